package io.millrace.server;

import io.millrace.poll.internal.Durations;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;

/**
 * Splits a stream of bytes into messages. Create a framing once and use it for any number of connections.
 *
 * {@snippet :
 * Framing lines = Framing.lines(1024).within(Duration.ofSeconds(30));
 * TcpServer.listen(7007, lines.frames((connection, line) -> connection.send(lines.encode(line))));
 * }
 *
 * <p><b>What it guarantees.</b> {@link #frames} wraps a handler so that its {@code onData} gets whole frames, one per
 * call, in order, without their delimiter or length. All other calls are passed through. A frame that arrives in one
 * read is not copied. A frame that arrives in several is collected in memory that grows with the bytes that have
 * arrived, never with the length that was announced. An empty frame is a call with an empty buffer. If a call throws,
 * the frames after it are still delivered. Once the connection is closed, further frames are dropped.
 *
 * <p><b>When it fails.</b> {@code onError} is called if a frame is longer than the maximum or the input ends in the
 * middle of a frame ({@link ProtocolException}), or if a frame takes longer than allowed ({@link
 * java.net.SocketTimeoutException}). A frame that is too long or too slow also closes the connection. No part of such a
 * frame is delivered.
 *
 * <p><b>Threads.</b> Immutable; any thread may use it.
 */
public abstract sealed class Framing permits Framing.Fixed, Framing.Prefixed, Framing.Delimited {
    /** The longest frame. */
    final int max;
    /** How long a frame may take from its first byte; 0 for ever. */
    final long withinNanos;

    private Framing(int max, long withinNanos) {
        this.max = max;
        this.withinNanos = withinNanos;
    }

    // ---- The kinds ----

    /**
     * Frames that all have the same length.
     *
     * @param length at least 1
     * @return a framing without a time limit
     */
    public static Framing fixed(int length) {
        return new Fixed(ServerSettings.inRange("the length of a frame", length, 1, Integer.MAX_VALUE - 8), 0);
    }

    /**
     * Frames preceded by their length, an unsigned big-endian number that does not include itself.
     *
     * @param prefixBytes the size of the length field: 1, 2 or 4 bytes
     * @param max the longest frame
     * @return a framing without a time limit
     */
    public static Framing lengthPrefixed(int prefixBytes, int max) {
        if (prefixBytes != 1 && prefixBytes != 2 && prefixBytes != 4) {
            throw new IllegalArgumentException("a length has 1, 2 or 4 bytes, not " + prefixBytes);
        }
        int most = prefixBytes == 4 ? Integer.MAX_VALUE - 16 : (1 << (8 * prefixBytes)) - 1;
        return new Prefixed(prefixBytes, ServerSettings.inRange("the longest frame", max, 0, most), 0);
    }

    /**
     * Frames that end with a delimiter.
     *
     * @param delimiter one or more bytes that do not occur in a frame
     * @param max the longest frame, without the delimiter
     * @return a framing without a time limit
     */
    public static Framing delimited(byte[] delimiter, int max) {
        if (delimiter.length == 0) {
            throw new IllegalArgumentException("a delimiter has at least one byte");
        }
        return new Delimited(
                delimiter.clone(),
                ServerSettings.inRange("the longest frame", max, 0, Integer.MAX_VALUE - 8 - delimiter.length),
                0);
    }

    /**
     * Lines that end with {@code \n}. A {@code \r} before it is part of the line.
     *
     * @param max the longest line in bytes
     * @return a framing without a time limit
     */
    public static Framing lines(int max) {
        return delimited("\n".getBytes(StandardCharsets.US_ASCII), max);
    }

    /**
     * Returns the same framing with a time limit, so that a peer cannot hold a connection by sending a byte now and
     * then. Between two frames a connection may be silent for any time; {@link TcpServer.Builder#idleTimeout} limits
     * that.
     *
     * @param limit the time from a frame's first byte to its last; zero for no limit
     * @return another framing
     */
    public abstract Framing within(Duration limit);

    // ---- Using it ----

    /**
     * Wraps a handler so that it receives whole frames.
     *
     * @param handler its {@code onData} gets whole frames, which are valid during the call and may be sent
     * @return a handler for a server or a client
     * @throws IllegalArgumentException if the handler was returned by this method, because a connection has only one
     *     framing
     */
    public ConnectionHandler frames(ConnectionHandler handler) {
        if (Objects.requireNonNull(handler, "handler") instanceof FrameDecoder) {
            throw new IllegalArgumentException(
                    "cannot wrap a handler that was returned by frames: a connection has one framing: " + handler);
        }
        return new FrameDecoder(this, handler);
    }

    /**
     * Adds the delimiter or length that the other side needs to find the frame.
     *
     * @param frame the bytes from its position to its limit, which do not change; the frame is not searched for the
     *     delimiter
     * @return the bytes to send
     * @throws IllegalArgumentException if the frame is longer than the maximum, or does not have the fixed length
     */
    public ByteBuffer encode(ByteBuffer frame) {
        int length = frame.remaining();
        if (length > max) {
            throw new IllegalArgumentException("a frame of " + length + " bytes is longer than " + this + " allows");
        }
        ByteBuffer bytes = ByteBuffer.allocate(before() + length + after());
        putBefore(bytes, length);
        bytes.put(frame.duplicate());
        putAfter(bytes);
        return bytes.flip();
    }

    // ---- What a kind supplies ----

    /** How many bytes are before a frame, and not part of it. */
    int before() {
        return 0;
    }

    /** How many bytes are behind a frame, and not part of it. */
    int after() {
        return 0;
    }

    void putBefore(ByteBuffer to, int length) {}

    void putAfter(ByteBuffer to) {}

    /**
     * Looks for the end of the first frame in bytes that were kept and those that came now.
     *
     * @param kept the first bytes of the frame, without its end
     * @param keptCount how many
     * @param data from its position on, what came behind them; nothing of it changes
     * @return how many bytes of the data belong to the frame, with what is around it; −1 if its end has not come
     * @throws ProtocolException if it is too long, whatever comes
     */
    abstract int find(byte[] kept, int keptCount, ByteBuffer data) throws ProtocolException;

    /** A frame is longer than it may be. */
    final ProtocolException tooLong(String length) {
        return new ProtocolException("a frame of " + length + " bytes came, and " + max
                + " is the maximum; the peer speaks another protocol, or the maximum must be raised");
    }

    /** A byte of the frame: one that was kept, or one that came now. */
    static byte at(byte[] kept, int keptCount, ByteBuffer data, int index) {
        return index < keptCount ? kept[index] : data.get(data.position() + index - keptCount);
    }

    static long nanos(Duration limit) {
        return Durations.limitNanos(limit, "the limit of time");
    }

    /** All the same length. */
    static final class Fixed extends Framing {
        private Fixed(int length, long withinNanos) {
            super(length, withinNanos);
        }

        @Override
        public Framing within(Duration limit) {
            return new Fixed(max, nanos(limit));
        }

        @Override
        public ByteBuffer encode(ByteBuffer frame) {
            if (frame.remaining() != max) {
                throw new IllegalArgumentException("a frame has " + max + " bytes, not " + frame.remaining());
            }
            return super.encode(frame);
        }

        @Override
        int find(byte[] kept, int keptCount, ByteBuffer data) {
            int missing = max - keptCount;
            return data.remaining() >= missing ? missing : -1;
        }

        @Override
        public String toString() {
            return "frames of " + max + " bytes";
        }
    }

    /** The length comes first. */
    static final class Prefixed extends Framing {
        private final int prefix;

        private Prefixed(int prefix, int max, long withinNanos) {
            super(max, withinNanos);
            this.prefix = prefix;
        }

        @Override
        public Framing within(Duration limit) {
            return new Prefixed(prefix, max, nanos(limit));
        }

        @Override
        int before() {
            return prefix;
        }

        @Override
        void putBefore(ByteBuffer to, int length) {
            for (int shift = 8 * (prefix - 1); shift >= 0; shift -= 8) {
                to.put((byte) (length >>> shift));
            }
        }

        @Override
        int find(byte[] kept, int keptCount, ByteBuffer data) throws ProtocolException {
            if (keptCount + data.remaining() < prefix) {
                return -1;
            }
            long length = 0;
            for (int i = 0; i < prefix; i++) {
                length = (length << 8) | (at(kept, keptCount, data, i) & 0xFF);
            }
            if (length > max) {
                throw tooLong(Long.toString(length));
            }
            long missing = prefix + length - keptCount;
            return data.remaining() >= missing ? (int) missing : -1;
        }

        @Override
        public String toString() {
            return "frames of up to " + max + " bytes behind their length of " + prefix + " bytes";
        }
    }

    /** A delimiter comes last. */
    static final class Delimited extends Framing {
        private final byte[] delimiter;

        private Delimited(byte[] delimiter, int max, long withinNanos) {
            super(max, withinNanos);
            this.delimiter = delimiter;
        }

        @Override
        public Framing within(Duration limit) {
            return new Delimited(delimiter, max, nanos(limit));
        }

        @Override
        int after() {
            return delimiter.length;
        }

        @Override
        void putAfter(ByteBuffer to) {
            to.put(delimiter);
        }

        /** Looks at each byte that came once. What was kept is looked at only for the first bytes of a delimiter whose last bytes came now. */
        @Override
        int find(byte[] kept, int keptCount, ByteBuffer data) throws ProtocolException {
            byte last = delimiter[delimiter.length - 1];
            int begin = data.position();
            // One byte further than the longest frame with its delimiter, it is too long whatever comes.
            int end = (int) Math.min(data.limit(), (long) begin + max + delimiter.length - keptCount);
            for (int i = begin; i < end; i++) {
                if (data.get(i) == last && endsAt(kept, keptCount, data, keptCount + i - begin)) {
                    return i - begin + 1;
                }
            }
            if (keptCount + (long) data.remaining() >= (long) max + delimiter.length) {
                throw tooLong("more than " + max);
            }
            return -1;
        }

        /** Whether the bytes before this one, whose last is known to fit, are the delimiter. */
        private boolean endsAt(byte[] kept, int keptCount, ByteBuffer data, int index) {
            int first = index - delimiter.length + 1;
            if (first < 0) {
                return false;
            }
            for (int i = 0; i < delimiter.length - 1; i++) {
                if (at(kept, keptCount, data, first + i) != delimiter[i]) {
                    return false;
                }
            }
            return true;
        }

        @Override
        public String toString() {
            return "frames of up to " + max + " bytes before a delimiter of " + delimiter.length;
        }
    }
}
