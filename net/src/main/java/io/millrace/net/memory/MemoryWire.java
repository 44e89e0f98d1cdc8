package io.millrace.net.memory;

import io.millrace.net.family.ByteCalls;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;

/**
 * A connection in memory, as the peer sees it. What the peer sends arrives in the pieces in which it was sent: one read returns bytes of one
 * piece. What the stream writes is taken as long as the peer reads, and refused after that, like a system whose buffers are full.
 *
 * <p>Any thread; nothing here waits, and nobody is told.
 */
public final class MemoryWire {
    private final ArrayDeque<ByteBuffer> arrived = new ArrayDeque<>();
    private final ByteArrayOutputStream sent = new ByteArrayOutputStream();
    /** How many bytes more the peer reads. */
    private long room = Long.MAX_VALUE;

    private boolean inputEnded;
    private boolean reset;
    private boolean inputShut;
    private boolean outputShut;
    private boolean closed;
    private boolean closedByReset;

    /** A connection that stands, whose peer reads. */
    public MemoryWire() {}

    // ---- The peer ----

    /**
     * The peer sends a piece.
     *
     * @param piece copied; nothing happens if it is empty, or if the stream cannot get it any more
     */
    public synchronized void send(byte[] piece) {
        if (piece.length > 0 && !inputEnded && !reset && !closed) {
            arrived.add(ByteBuffer.wrap(piece.clone()));
        }
    }

    /** The peer sends no more. */
    public synchronized void endInput() {
        inputEnded = true;
    }

    /** The peer breaks the connection: what was not read is lost, and every read and write fails from now on. */
    public synchronized void reset() {
        reset = true;
        arrived.clear();
    }

    /** The peer reads nothing more. */
    public synchronized void stopReading() {
        room = 0;
    }

    /**
     * The peer reads some bytes more.
     *
     * @param count how many; {@link Long#MAX_VALUE} for all
     */
    public synchronized void read(long count) {
        room = room + count < 0 ? Long.MAX_VALUE : room + count;
    }

    /**
     * What the peer has read.
     *
     * @return all bytes since the last {@link #takeSent}
     */
    public synchronized byte[] sent() {
        return sent.toByteArray();
    }

    /**
     * Takes what the peer has read.
     *
     * @return all bytes since the last call
     */
    public synchronized byte[] takeSent() {
        byte[] all = sent.toByteArray();
        sent.reset();
        return all;
    }

    /**
     * Whether the peer was told that no more will come.
     *
     * @return also true if the stream was closed, unless that was a reset
     */
    public synchronized boolean hasOutputEnded() {
        return outputShut || (closed && !closedByReset);
    }

    /**
     * Whether the stream was closed with a reset.
     *
     * @return true from then on
     */
    public synchronized boolean wasReset() {
        return closedByReset;
    }

    /**
     * Whether the stream was closed.
     *
     * @return true from then on
     */
    public synchronized boolean isClosed() {
        return closed;
    }

    // ---- What a selector would tell ----

    /**
     * Whether a read would return something else than would-block.
     *
     * @return bytes, the end, or a failure
     */
    public synchronized boolean isReadable() {
        return !arrived.isEmpty() || inputEnded || inputShut || reset;
    }

    /**
     * Whether a write would be taken, or fail.
     *
     * @return false while the peer does not read
     */
    public synchronized boolean isWritable() {
        return room > 0 || reset;
    }

    // ---- The stream ----

    synchronized int read(ByteBuffer into) throws IOException {
        requireOpen();
        if (!into.hasRemaining()) {
            return 0;
        }
        if (reset) {
            throw new IOException("cannot read: connection reset by peer");
        }
        ByteBuffer piece = arrived.peek();
        if (piece == null) {
            return inputEnded || inputShut ? ByteCalls.EOF : ByteCalls.WOULD_BLOCK;
        }
        int count = Math.min(piece.remaining(), into.remaining());
        into.put(piece.slice(piece.position(), count));
        piece.position(piece.position() + count);
        if (!piece.hasRemaining()) {
            arrived.remove();
        }
        return count;
    }

    synchronized boolean hasInput() throws IOException {
        requireOpen();
        return !arrived.isEmpty();
    }

    synchronized int write(ByteBuffer from) throws IOException {
        requireOpen();
        if (reset) {
            throw new IOException("cannot write: connection reset by peer");
        }
        if (!from.hasRemaining()) {
            return 0;
        }
        int count = (int) Math.min(from.remaining(), room);
        if (count == 0) {
            return ByteCalls.WOULD_BLOCK;
        }
        byte[] bytes = new byte[count];
        from.get(bytes);
        sent.writeBytes(bytes);
        room = room == Long.MAX_VALUE ? room : room - count;
        return count;
    }

    synchronized void shutInput() throws IOException {
        requireOpen();
        inputShut = true;
        arrived.clear();
    }

    synchronized void shutOutput() throws IOException {
        requireOpen();
        outputShut = true;
    }

    /** As in a system, unread input makes it a reset, too. */
    synchronized void close(boolean withReset) {
        if (!closed) {
            closed = true;
            closedByReset = withReset || !arrived.isEmpty();
            arrived.clear();
        }
    }

    synchronized void requireOpen() throws ClosedChannelException {
        if (closed) {
            throw new ClosedChannelException();
        }
    }
}
