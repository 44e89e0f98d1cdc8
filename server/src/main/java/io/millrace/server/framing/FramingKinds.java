package io.millrace.server.framing;

import io.millrace.poll.internal.Durations;
import io.millrace.server.FrameBytes;
import io.millrace.server.Framing;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;

/**
 * The framings that {@link Framing} offers. They could be written outside of the library, except for {@link #NONE} and
 * {@link Exactly}, which {@code FrameDecoder} knows.
 */
public final class FramingKinds {
    /** A frame must fit in an array. */
    public static final int LONGEST = Integer.MAX_VALUE - 8;

    /** Bytes as they come. {@code FrameDecoder} delivers them without calling {@code find}. */
    public static final Framing NONE = new None();

    private FramingKinds() {}

    public static Framing within(Framing framing, Duration limit) {
        Durations.limitNanos(limit, "the limit of time");
        return limit.isZero() ? framing : new Timed(framing, limit);
    }

    /** Creates the exception for a frame longer than the maximum. */
    static ProtocolException tooLong(String length, int max) {
        return new ProtocolException("a frame of " + length + " bytes came, and " + max
                + " is the maximum; the peer speaks another protocol, or the maximum must be raised");
    }

    /** Returns a buffer for an encoded frame. */
    private static ByteBuffer room(Framing framing, ByteBuffer frame, int max, int around) {
        int length = frame.remaining();
        if (length > max) {
            throw new IllegalArgumentException("a frame of " + length + " bytes is longer than " + framing + " allows");
        }
        return ByteBuffer.allocate(length + around);
    }

    private static ByteBuffer copyOf(ByteBuffer frame, int length) {
        if (frame.remaining() != length) {
            throw new IllegalArgumentException("a frame has " + length + " bytes, not " + frame.remaining());
        }
        return ByteBuffer.allocate(length).put(frame.duplicate()).flip();
    }

    /** A framing with a time limit. */
    public record Timed(Framing framing, Duration timeLimit) implements Framing {
        @Override
        public Framing within(Duration limit) {
            return framing.within(limit);
        }

        @Override
        public void find(FrameBytes bytes) throws ProtocolException {
            framing.find(bytes);
        }

        @Override
        public int maxBytes() {
            return framing.maxBytes();
        }

        @Override
        public Framing forConnection() {
            return framing.forConnection();
        }

        @Override
        public ByteBuffer encode(ByteBuffer frame) {
            return framing.encode(frame);
        }

        @Override
        public String toString() {
            return framing + " within " + timeLimit.toMillis() + " ms";
        }
    }

    /** Bytes as they come. */
    private static final class None implements Framing {
        @Override
        public void find(FrameBytes bytes) {
            bytes.frame(bytes.size());
        }

        @Override
        public int maxBytes() {
            return LONGEST;
        }

        @Override
        public ByteBuffer encode(ByteBuffer bytes) {
            return copyOf(bytes, bytes.remaining());
        }

        @Override
        public String toString() {
            return "bytes as they come";
        }
    }

    /** Frames of one length. */
    public record Fixed(int maxBytes) implements Framing {
        @Override
        public void find(FrameBytes bytes) {
            bytes.frame(maxBytes);
        }

        @Override
        public ByteBuffer encode(ByteBuffer frame) {
            return copyOf(frame, maxBytes);
        }

        @Override
        public String toString() {
            return "frames of " + maxBytes + " bytes";
        }
    }

    /** One frame, which is followed by another framing. */
    public static final class Exactly implements Framing {
        private final int length;
        private boolean found;

        public Exactly(int length) {
            this.length = length;
        }

        @Override
        public Framing forConnection() {
            return new Exactly(length);
        }

        /** Returns whether the frame was not found yet. Then {@code find} is called even if no bytes have arrived. */
        public boolean isDue() {
            return !found;
        }

        /** Returns whether the frame needs no bytes, and was not found yet. */
        public boolean isEmptyDue() {
            return !found && length == 0;
        }

        @Override
        public void find(FrameBytes bytes) {
            if (found) {
                throw new IllegalStateException(
                        "more bytes came behind its frame: call setFraming in the callback that" + " gets the frame");
            }
            bytes.frame(length);
            found = true;
        }

        @Override
        public int maxBytes() {
            return Math.max(1, length);
        }

        @Override
        public ByteBuffer encode(ByteBuffer frame) {
            return copyOf(frame, length);
        }

        @Override
        public String toString() {
            return "one frame of " + length + " bytes";
        }
    }

    /** Frames preceded by their length. */
    public record Prefixed(int prefix, ByteOrder order, int max) implements Framing {
        @Override
        public void find(FrameBytes bytes) throws ProtocolException {
            if (bytes.size() >= prefix) {
                long length = bytes.unsigned(0, prefix, order);
                if (length > max) {
                    throw tooLong(Long.toString(length), max);
                }
                bytes.frame(prefix, prefix + length, prefix + length);
            }
        }

        @Override
        public int maxBytes() {
            return prefix + max;
        }

        @Override
        public ByteBuffer encode(ByteBuffer frame) {
            ByteBuffer bytes = room(this, frame, max, prefix);
            int length = frame.remaining();
            for (int i = 0; i < prefix; i++) {
                int place = order == ByteOrder.BIG_ENDIAN ? prefix - 1 - i : i;
                bytes.put((byte) (length >>> (8 * place)));
            }
            return bytes.put(frame.duplicate()).flip();
        }

        @Override
        public String toString() {
            return "frames of up to " + max + " bytes behind their length of " + prefix + " bytes"
                    + (order == ByteOrder.BIG_ENDIAN ? "" : ", little endian");
        }
    }

    /** Frames preceded by their length, which has as many bytes as it needs. */
    public record Varint(int max) implements Framing {
        /** For 32 bits. */
        public static final int MOST_BYTES = 5;

        @Override
        public void find(FrameBytes bytes) throws ProtocolException {
            long length = 0;
            int here = Math.min(bytes.size(), MOST_BYTES);
            for (int i = 0; i < here; i++) {
                byte next = bytes.get(i);
                length |= (next & 0x7FL) << (7 * i);
                if (next >= 0) {
                    if (length > max) {
                        throw tooLong(Long.toString(length), max);
                    }
                    bytes.frame(i + 1, i + 1 + length, i + 1 + length);
                    return;
                }
            }
            if (here == MOST_BYTES) {
                throw new ProtocolException("a length of more than " + MOST_BYTES
                        + " bytes came; the peer speaks another protocol than varint lengths");
            }
        }

        @Override
        public int maxBytes() {
            return MOST_BYTES + max;
        }

        @Override
        public ByteBuffer encode(ByteBuffer frame) {
            int rest = frame.remaining();
            int bits = Integer.SIZE - Integer.numberOfLeadingZeros(rest | 1);
            ByteBuffer bytes = room(this, frame, max, (bits + 6) / 7);
            while (rest > 0x7F) {
                bytes.put((byte) (rest | 0x80));
                rest >>>= 7;
            }
            return bytes.put((byte) rest).put(frame.duplicate()).flip();
        }

        @Override
        public String toString() {
            return "frames of up to " + max + " bytes behind their length as a varint";
        }
    }

    /** Frames followed by a delimiter. */
    public static final class Delimited implements Framing {
        private final byte[] delimiter;
        private final int max;

        public Delimited(byte[] delimiter, int max) {
            this.delimiter = delimiter;
            this.max = max;
        }

        /** Searches each byte once. Bytes are compared again only if a delimiter begins in one read and ends in another. */
        @Override
        public void find(FrameBytes bytes) throws ProtocolException {
            int length = bytes.indexOf(delimiter, bytes.searched() - delimiter.length + 1);
            if (length >= 0) {
                bytes.frame(0, length, length + delimiter.length);
            } else if (bytes.size() == maxBytes()) {
                throw tooLong("more than " + max, max);
            }
        }

        @Override
        public int maxBytes() {
            return max + delimiter.length;
        }

        @Override
        public ByteBuffer encode(ByteBuffer frame) {
            return room(this, frame, max, delimiter.length)
                    .put(frame.duplicate())
                    .put(delimiter)
                    .flip();
        }

        @Override
        public String toString() {
            return "frames of up to " + max + " bytes before a delimiter of " + delimiter.length;
        }
    }
}
