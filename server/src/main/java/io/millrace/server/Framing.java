package io.millrace.server;

import io.millrace.server.framing.FramedHandler;
import io.millrace.server.framing.FramingKinds;
import io.millrace.server.support.ServerSettings;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;

/**
 * Splits a stream of bytes into messages. The static methods return the usual kinds; implement {@link #find} for a
 * protocol of your own.
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
 * <p><b>Switching.</b> {@link Connection#setFraming} sets another framing on a live connection, for example for the body
 * behind a head, or after an upgrade. Bytes that were not delivered yet go to the new framing, even if they came in the
 * same read.
 *
 * <p><b>When it fails.</b> {@code onError} is called if a frame is longer than the maximum ({@link ProtocolException}),
 * if the input ends in the middle of a frame ({@link java.io.EOFException}), or if a frame takes longer than allowed
 * ({@link java.net.SocketTimeoutException}). A frame that is too long or too slow also closes the connection. No part of such a
 * frame is delivered. If a framing of yours fails, that connection is closed, and {@code onError} gets an {@link
 * IllegalStateException} that names the framing; other connections are not affected.
 *
 * <p><b>Your own.</b> A record is often enough. Frames with a length of three bytes at the beginning of a header of
 * nine, as in HTTP/2:
 *
 * {@snippet :
 * record Http2Frames(int maxBytes) implements Framing {
 *     @Override
 *     public void find(FrameBytes bytes) {
 *         if (bytes.size() >= 9) {
 *             bytes.frame(9 + bytes.unsigned(0, 3, ByteOrder.BIG_ENDIAN));
 *         }
 *     }
 * }
 * }
 *
 * <p><b>Threads.</b> Any thread may use a framing, and all connections share it, unless {@link #forConnection} returns
 * one with a state. {@link #find} is called where the callbacks of the connection run, and never for two frames of one
 * connection at the same time.
 */
public interface Framing {
    // ---- What a framing supplies ----

    /**
     * Looks for the first frame. Called when bytes have come, and again when more have come, until the frame is found.
     * As soon as it is known where the frame ends, call one of the {@code frame} methods of the argument once, even if
     * the end has not come yet; this method is not called again before it has. As long as the end is not known, return
     * without calling one.
     *
     * @param bytes those that came and were not delivered, at least one; valid during the call
     * @throws ProtocolException if these bytes cannot be the beginning of a frame; it goes to {@code onError} and the
     *     connection is closed
     */
    void find(FrameBytes bytes) throws ProtocolException;

    /**
     * Returns the size of the longest frame, with its header and delimiter. A longer one is refused as soon as its
     * length is known, or when so many bytes have come without an end. {@link #find} sees no more bytes than that.
     *
     * @return at least 1; always the same
     */
    int maxBytes();

    /**
     * Returns how long a frame may take: see {@link #within}.
     *
     * @return zero for any time; always the same
     */
    default Duration timeLimit() {
        return Duration.ZERO;
    }

    /**
     * Returns the framing that is used for one connection. Override this if {@link #find} remembers something between
     * two calls that {@link FrameBytes#searched} does not tell, for example the depth of nested arrays. Called each time
     * when the framing is set on a connection.
     *
     * @return by default this one, which all connections share
     */
    default Framing forConnection() {
        return this;
    }

    /**
     * Adds the delimiter or length that the other side needs to find the frame.
     *
     * @param frame the bytes from its position to its limit, which do not change; the frame is not searched for the
     *     delimiter
     * @return the bytes to send
     * @throws IllegalArgumentException if the frame is longer than the maximum, or does not have the fixed length
     * @throws UnsupportedOperationException if a framing of your own does not override this
     */
    default ByteBuffer encode(ByteBuffer frame) {
        throw new UnsupportedOperationException("cannot encode a frame: " + this + " only decodes; override encode");
    }

    // ---- Using it ----

    /**
     * Returns the same framing with a time limit, so that a peer cannot hold a connection by sending a byte now and
     * then. Between two frames a connection may be silent for any time; {@link TcpServer.Builder#idleTimeout} limits
     * that.
     *
     * @param limit the time from a frame's first byte to its last; zero for no limit
     * @return another framing
     */
    default Framing within(Duration limit) {
        return FramingKinds.within(this, limit);
    }

    /**
     * Wraps a handler so that it receives whole frames. The framing is set just before {@code onConnect}.
     *
     * @param handler its {@code onData} gets whole frames, which are valid during the call and may be sent
     * @return a handler for a server or a client
     * @throws IllegalArgumentException if the handler was returned by this method, because a connection has only one
     *     framing at a time
     */
    default ConnectionHandler frames(ConnectionHandler handler) {
        if (Objects.requireNonNull(handler, "handler") instanceof FramedHandler) {
            throw new IllegalArgumentException(
                    "cannot wrap a handler that was returned by frames: a connection has one framing: " + handler);
        }
        return new FramedHandler(this, handler);
    }

    // ---- The kinds ----

    /**
     * Frames that all have the same length.
     *
     * @param length at least 1
     * @return a framing without a time limit
     */
    static Framing fixed(int length) {
        return new FramingKinds.Fixed(ServerSettings.inRange("the length of a frame", length, 1, FramingKinds.LONGEST));
    }

    /**
     * Frames preceded by their length, an unsigned big-endian number that does not include itself.
     *
     * @param prefixBytes the size of the length field: 1 to 4 bytes
     * @param max the longest frame
     * @return a framing without a time limit
     */
    static Framing lengthPrefixed(int prefixBytes, int max) {
        return lengthPrefixed(prefixBytes, ByteOrder.BIG_ENDIAN, max);
    }

    /**
     * Frames preceded by their length, an unsigned number that does not include itself.
     *
     * @param prefixBytes the size of the length field: 1 to 4 bytes
     * @param order which byte of the length comes first
     * @param max the longest frame
     * @return a framing without a time limit
     */
    static Framing lengthPrefixed(int prefixBytes, ByteOrder order, int max) {
        Objects.requireNonNull(order, "order");
        ServerSettings.inRange("the number of bytes of a length", prefixBytes, 1, 4);
        int most = (int) Math.min(FramingKinds.LONGEST - prefixBytes, (1L << (8 * prefixBytes)) - 1);
        return new FramingKinds.Prefixed(prefixBytes, order, ServerSettings.inRange("the longest frame", max, 0, most));
    }

    /**
     * Frames preceded by their length as a variable-length number, as Protocol Buffers write it: seven bits in each
     * byte, the lowest first. A length of more than five bytes is refused; one that is padded to up to five is not.
     *
     * @param max the longest frame
     * @return a framing without a time limit
     */
    static Framing varintPrefixed(int max) {
        return new FramingKinds.Varint(ServerSettings.inRange(
                "the longest frame", max, 0, FramingKinds.LONGEST - FramingKinds.Varint.MOST_BYTES));
    }

    /**
     * Frames that end with a delimiter.
     *
     * @param delimiter one or more bytes that do not occur in a frame
     * @param max the longest frame, without the delimiter
     * @return a framing without a time limit
     */
    static Framing delimited(byte[] delimiter, int max) {
        if (delimiter.length == 0) {
            throw new IllegalArgumentException("a delimiter has at least one byte");
        }
        return new FramingKinds.Delimited(
                delimiter.clone(),
                ServerSettings.inRange("the longest frame", max, 0, FramingKinds.LONGEST - delimiter.length));
    }

    /**
     * Lines that end with {@code \n}. A {@code \r} before it is part of the line.
     *
     * @param max the longest line in bytes, without its end; 0 admits empty lines only
     * @return a framing without a time limit
     */
    static Framing lines(int max) {
        return delimited("\n".getBytes(StandardCharsets.US_ASCII), max);
    }

    /**
     * One frame of so many bytes, for {@link Connection#setFraming}: for example the body whose length was in the head
     * before it. It is expected from the moment it is set: its time counts from then, and an end of input before it is
     * an error. If its length is 0, an empty frame is delivered as soon as the callback has returned that set it. The
     * callback that gets the frame sets the next framing; if it does not, and more bytes come, the connection is closed
     * with an error.
     *
     * @param length at least 0; that many bytes are collected in memory, so limit what a peer may ask for
     * @return a framing without a time limit
     */
    static Framing exactly(int length) {
        return new FramingKinds.Exactly(
                ServerSettings.inRange("the length of a frame", length, 0, FramingKinds.LONGEST));
    }

    /**
     * No frames: {@code onData} gets bytes as they come. This is how a connection begins, and for {@link
     * Connection#setFraming} the way back to it.
     *
     * @return always the same
     */
    static Framing none() {
        return FramingKinds.NONE;
    }
}
