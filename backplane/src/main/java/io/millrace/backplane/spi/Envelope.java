package io.millrace.backplane.spi;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The bytes of a record as all engines store them: a version, the number that the publisher gave the message, the
 * publisher's id, and the message. An engine that finds its publisher's number in the log knows that the record has
 * arrived.
 */
public final class Envelope {
    private static final byte VERSION = 1;
    private static final int NODE_AT = 1 + Long.BYTES + 1;

    private final String node;
    private final long sequence;
    private final byte[] bytes;

    private Envelope(String node, long sequence, byte[] bytes) {
        this.node = node;
        this.sequence = sequence;
        this.bytes = bytes;
    }

    /**
     * Makes the record of a message.
     *
     * @param node the publisher's id
     * @param sequence counts this publisher's messages to this topic
     * @param data the message; is copied, and its position moved to its limit
     * @return the record
     */
    public static Envelope of(String node, long sequence, ByteBuffer data) {
        byte[] name = node.getBytes(StandardCharsets.US_ASCII);
        byte[] bytes = new byte[NODE_AT + name.length + data.remaining()];
        ByteBuffer.wrap(bytes)
                .put(VERSION)
                .putLong(sequence)
                .put((byte) name.length)
                .put(name)
                .put(data);
        return new Envelope(node, sequence, bytes);
    }

    /**
     * Reads a record.
     *
     * @param bytes as stored
     * @return who has published it, and its number
     * @throws IllegalArgumentException if it was not written by this version of Millrace
     */
    public static Envelope read(byte[] bytes) {
        if (bytes.length < NODE_AT || bytes[0] != VERSION || bytes.length < NODE_AT + (bytes[NODE_AT - 1] & 0xFF)) {
            throw new IllegalArgumentException(
                    "a record of " + bytes.length
                            + " bytes that no backplane of this version has written; give the backplane a namespace of its own");
        }
        String node = new String(bytes, NODE_AT, bytes[NODE_AT - 1] & 0xFF, StandardCharsets.US_ASCII);
        return new Envelope(node, ByteBuffer.wrap(bytes).getLong(1), bytes);
    }

    /**
     * Returns the publisher.
     *
     * @return its id
     */
    public String node() {
        return node;
    }

    /**
     * Returns the number that the publisher gave it.
     *
     * @return counts from 1, for each topic
     */
    public long sequence() {
        return sequence;
    }

    /**
     * Returns what an engine stores.
     *
     * @return not a copy; must not be changed
     */
    public byte[] bytes() {
        return bytes;
    }

    /**
     * Returns the message in it.
     *
     * @return a buffer over the same bytes
     */
    public ByteBuffer data() {
        int begin = NODE_AT + (bytes[NODE_AT - 1] & 0xFF);
        return ByteBuffer.wrap(bytes, begin, bytes.length - begin).slice();
    }
}
