package io.millrace.server;

import io.millrace.net.UnixAddress;
import io.millrace.poll.internal.Durations;
import io.millrace.server.direct.SocketLink;
import io.millrace.server.direct.SocketStreams;
import io.millrace.server.framing.FrameBuffer;
import io.millrace.server.framing.FramingKinds;
import io.millrace.server.framing.FramingTerms;
import io.millrace.server.support.ServerSettings;
import io.millrace.server.tls.TlsSession;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A connection in direct style: reads and writes that block, for threads that may.
 *
 * <p><b>Reading.</b> A read waits until there is something, and returns null or -1 at the end of the input. What one
 * method leaves behind, the next one gets, whichever it is.
 *
 * <p><b>Writing.</b> {@link #write} takes all bytes before it returns, so you can reuse the buffer. It waits while more
 * than the high-water mark is waiting to be sent: that is all there is to back pressure. On a loop, small pieces are
 * gathered, and go out when the thread waits for something, gives way to others, or ends; {@link #flush} waits until the system has
 * taken them.
 *
 * <p><b>Waking up.</b> A call that waits ends with an exception if its time limit passes ({@link
 * java.net.SocketTimeoutException}; the connection can still be used), if its thread is interrupted ({@link
 * java.io.InterruptedIOException}; likewise, and the interrupt status stays set), if another thread closes the
 * connection, or if the connection fails ({@link java.net.SocketException}; the cause says why). Bytes that have arrived
 * before are not lost.
 *
 * <p><b>With TLS.</b> An input that ends without the peer's announcement fails as a connection does, and does not look like
 * its end; the cause is a {@link io.millrace.server.tls.TlsTruncatedException}.
 *
 * <p><b>Threads.</b> One thread at a time may read, and one may write; they may be different ones, of any kind, except
 * the one that runs the connection's loop: where that would have to wait, in a callback, it gets an {@link
 * IllegalStateException}. {@link #close} and {@link #abort} may be called by any thread. A virtual thread that waits leaves its carrier, unless there is
 * native code or a class initializer on its stack.
 */
public final class DirectSocket implements Closeable {
    private static final byte[] NOTHING = {};

    private final SocketLink link;
    private final Connection connection;

    /** Used by the reader: what it has not consumed; null until something had to be kept. */
    private @Nullable FrameBuffer bytes;

    /** Used by the reader: whether it has returned a frame in place, behind which the bytes go on. */
    private boolean inFrame;

    private final SocketLink.Bytes answer = new SocketLink.Bytes();
    /** Used by the reader: the framing that was used last, and its terms for this connection. */
    private @Nullable Framing framing;

    private @Nullable FramingTerms terms;

    private volatile long readNanos;
    private volatile long writeNanos;
    private volatile boolean limited;
    private volatile long lastMoment;

    DirectSocket(SocketLink link) {
        this.link = link;
        this.connection = link.connection();
    }

    // ---- Reading ----

    /**
     * Reads some bytes: what is there, or else waits for the next.
     *
     * @param target gets them; its position advances
     * @return how many, at least 1 unless the target is full; -1 at the end of the input
     * @throws IOException if it cannot be read: see the class comment
     * @throws IllegalArgumentException if the target is read-only
     */
    public int read(ByteBuffer target) throws IOException {
        if (target.isReadOnly()) { // now: the loop that fills it has nobody to tell
            throw new IllegalArgumentException("cannot read from " + connection + " into a read-only buffer");
        }
        if (!target.hasRemaining()) {
            return 0;
        }
        FrameBuffer present = bytes;
        if (present != null) {
            endFrame(present);
            if (present.available() > 0) {
                return take(present, target);
            }
            present.keep();
        }
        return fill(target, readNanos);
    }

    /**
     * Reads some bytes.
     *
     * @param target gets them
     * @param offset where they begin in it
     * @param length how many it takes at most
     * @return how many, at least 1 unless the length is 0; -1 at the end of the input
     * @throws IOException if it cannot be read: see the class comment
     */
    public int read(byte[] target, int offset, int length) throws IOException {
        return read(ByteBuffer.wrap(target, offset, length));
    }

    /**
     * Reads until a buffer is full.
     *
     * @param target gets the bytes; its position advances to its limit, or as far as there were bytes
     * @throws EOFException if the input ends before
     * @throws IOException if it cannot be read: see the class comment
     */
    public void readFully(ByteBuffer target) throws IOException {
        int wanted = target.remaining();
        while (target.hasRemaining()) {
            if (read(target) < 0) {
                throw link.tell(new EOFException("the input of " + connection + " ended after "
                        + (wanted - target.remaining()) + " of " + wanted + " bytes"));
            }
        }
    }

    /**
     * Reads that many bytes.
     *
     * @param count at least 0; they are collected in memory, so limit what a peer may ask for
     * @return that many
     * @throws EOFException if the input ends before
     * @throws IOException if it cannot be read: see the class comment
     * @throws IllegalArgumentException if the count is negative
     */
    public byte[] readExactly(int count) throws IOException {
        if (count < 0) {
            throw new IllegalArgumentException(
                    "cannot read " + count + " bytes from " + connection + ": the count must be at least 0");
        }
        byte[] all = new byte[count];
        readFully(ByteBuffer.wrap(all));
        return all;
    }

    /**
     * Reads a line, as UTF-8.
     *
     * @param max the longest line in bytes, without its end
     * @return the line without its {@code \n} or {@code \r\n}; null at the end of the input
     * @throws ProtocolException if a line is longer, or the input ends in the middle of one
     * @throws IOException if it cannot be read: see the class comment
     */
    public @Nullable String readLine(int max) throws IOException {
        Framing lines = framing;
        if (!(lines instanceof Lines known) || known.max != max) {
            lines = new Lines(ServerSettings.inRange("the longest line", max, 0, FramingKinds.LONGEST - 2));
        }
        ByteBuffer line = readFrame(lines);
        return line == null ? null : StandardCharsets.UTF_8.decode(line).toString();
    }

    /** Lines without their ends, which may be of either kind and do not count. */
    private record Lines(int max) implements Framing {
        private static final byte[] END = {'\n'};

        @Override
        public void find(FrameBytes bytes) throws ProtocolException {
            int behind = bytes.indexOf(END, bytes.searched());
            int text = behind < 0 ? bytes.size() : behind;
            if (text > 0 && bytes.get(text - 1) == '\r') {
                text--;
            }
            if (text > max) {
                throw new ProtocolException("a line of more than " + max + " bytes came, and " + max
                        + " is the maximum; the peer speaks another protocol, or the maximum must be raised");
            }
            if (behind >= 0) {
                bytes.frame(0, text, behind + 1L);
            }
        }

        @Override
        public int maxBytes() {
            return max + 2;
        }
    }

    /**
     * Reads until some bytes come.
     *
     * @param delimiter at least one byte
     * @param max how many bytes may come before it
     * @return what came before it; null at the end of the input
     * @throws ProtocolException if more bytes come before it, or the input ends between
     * @throws IOException if it cannot be read: see the class comment
     */
    public byte @Nullable [] readUntil(byte[] delimiter, int max) throws IOException {
        ByteBuffer frame = readFrame(Framing.delimited(delimiter, max));
        if (frame == null) {
            return null;
        }
        byte[] all = new byte[frame.remaining()];
        frame.get(all);
        return all;
    }

    /**
     * Reads a frame.
     *
     * @param of any framing; another one may be used for the next frame. If it has a time limit ({@link
     *     Framing#within}), that applies from the frame's first byte on
     * @return the frame, in place if possible: valid until the next read, so copy what you need later; null at the end of
     *     the input
     * @throws ProtocolException if a frame is too long, or the input ends in the middle of one
     * @throws IOException if it cannot be read: see the class comment
     */
    public @Nullable ByteBuffer readFrame(Framing of) throws IOException {
        FramingTerms wanted = termsOf(of);
        FrameBuffer present = bytes;
        if (present == null) {
            present = new FrameBuffer();
            bytes = present;
        } else {
            endFrame(present);
        }
        if (wanted.isNone()) {
            return readPiece(present);
        }
        long began = 0;
        boolean timed = false;
        while (!tryFind(present, wanted)) {
            long limit = readNanos;
            if (wanted.withinNanos() > 0 && present.available() > 0) {
                long now = link.nanoTime();
                if (!timed) {
                    timed = true;
                    began = now;
                }
                long left = Math.max(1, wanted.withinNanos() - (now - began));
                limit = limit == 0 ? left : Math.min(limit, left);
            }
            present.keep();
            long kept = present.available();
            if (fill(null, limit) < 0) {
                present.drop();
                if (kept == 0) {
                    return null;
                }
                throw link.tell(new ProtocolException("the input of " + connection
                        + " ended in the middle of a frame, of which " + kept + " bytes came"));
            }
            present.add(Objects.requireNonNull(answer.take()));
        }
        if (wanted.framing() instanceof FramingKinds.Exactly) {
            framing = null; // which finds one frame only
        }
        inFrame = true;
        return present.beginFrame();
    }

    /** Moves on behind the frame that was returned last. */
    private void endFrame(FrameBuffer present) {
        if (inFrame) {
            inFrame = false;
            present.endFrame();
        }
    }

    /** Returns whether a whole frame is there. */
    private boolean tryFind(FrameBuffer present, FramingTerms wanted) throws ProtocolException {
        if (!present.isFound() && (present.hasNews() || isExpected(wanted))) {
            try {
                present.find(wanted.framing(), wanted.maxBytes());
            } catch (ProtocolException e) {
                throw link.tell(e);
            }
        }
        return present.isComplete();
    }

    /** Returns whether the framing knows its frame before any byte has come. */
    private static boolean isExpected(FramingTerms wanted) {
        return wanted.framing() instanceof FramingKinds.Exactly exactly && exactly.isDue();
    }

    private @Nullable ByteBuffer readPiece(FrameBuffer present) throws IOException {
        if (present.available() == 0) {
            present.keep();
            if (fill(null, readNanos) < 0) {
                return null;
            }
            present.add(Objects.requireNonNull(answer.take()));
        }
        ByteBuffer all = ByteBuffer.allocate((int) present.available());
        while (all.hasRemaining()) {
            take(present, all);
        }
        return all.flip();
    }

    /** Framings may have a state for each connection, so the terms are asked for when another one is used. */
    @SuppressWarnings("ReferenceEquality") // the same one
    private FramingTerms termsOf(Framing of) {
        FramingTerms present = terms;
        if (of != framing || present == null) {
            present = FramingTerms.of(of);
            framing = of;
            terms = present;
            FrameBuffer kept = bytes;
            if (kept != null) {
                endFrame(kept);
                kept.forget();
            }
        }
        return present;
    }

    private static int take(FrameBuffer from, ByteBuffer target) {
        from.forget();
        ByteBuffer piece = from.beginPiece();
        int count = Math.min(piece.remaining(), target.remaining());
        int limit = piece.limit();
        piece.limit(piece.position() + count);
        target.put(piece);
        piece.limit(limit);
        from.endPiece(piece, false);
        return count;
    }

    private int fill(@Nullable ByteBuffer target, long nanos) throws IOException {
        boolean last = limited;
        if (nanos == 0 && !last) {
            return link.read(target, false, 0, answer);
        }
        return link.read(target, true, deadline(nanos, last), answer);
    }

    /** Returns when a call has to end: after some time, or at the end of the time for all, whichever is first. */
    private long deadline(long nanos, boolean last) {
        long moment = lastMoment;
        if (nanos == 0) {
            return moment;
        }
        long deadline = link.nanoTime() + nanos;
        return last && moment - deadline < 0 ? moment : deadline;
    }

    // ---- Writing ----

    /**
     * Writes bytes.
     *
     * @param data the bytes from its position to its limit, to which its position advances
     * @throws IOException if they cannot be sent: see the class comment. Some of them may have been sent
     */
    public void write(ByteBuffer data) throws IOException {
        long nanos = writeNanos;
        boolean last = limited;
        boolean bounded = nanos != 0 || last;
        link.write(data, bounded, bounded ? deadline(nanos, last) : 0);
    }

    /**
     * Writes bytes.
     *
     * @param data the bytes
     * @throws IOException if they cannot be sent: see the class comment. Some of them may have been sent
     */
    public void write(byte[] data) throws IOException {
        write(ByteBuffer.wrap(data));
    }

    /**
     * Writes bytes.
     *
     * @param data contains the bytes
     * @param offset where they begin
     * @param length how many they are
     * @throws IOException if they cannot be sent: see the class comment. Some of them may have been sent
     */
    public void write(byte[] data, int offset, int length) throws IOException {
        write(ByteBuffer.wrap(data, offset, length));
    }

    /**
     * Writes text as UTF-8.
     *
     * @param text the text
     * @throws IOException if it cannot be sent: see the class comment. Some of it may have been sent
     */
    public void write(String text) throws IOException {
        write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * Sends a file, in order with everything else: see {@link Connection#sendFile(Path)}. Waits until no more of it is
     * left than the low-water mark.
     *
     * @param file a regular file of the default file system
     * @throws IOException if it cannot be opened or sent
     */
    public void sendFile(Path file) throws IOException {
        awaitFile(connection.sendFile(file));
    }

    /**
     * Sends a part of a file: see {@link Connection#sendFile(Path, long, long)}. Waits until no more of it is left than
     * the low-water mark.
     *
     * @param file a regular file of the default file system
     * @param position the first byte to send
     * @param count how many bytes to send
     * @throws IOException if it cannot be opened or sent
     */
    public void sendFile(Path file, long position, long count) throws IOException {
        awaitFile(connection.sendFile(file, position, count));
    }

    private void awaitFile(SendResult sent) throws IOException {
        if (sent == SendResult.CLOSED) {
            write(NOTHING); // throws why
            throw new IOException("cannot send a file on " + connection + ": its output is closed");
        }
        if (sent == SendResult.ABOVE_HIGH_WATER) {
            long nanos = writeNanos;
            boolean last = limited;
            boolean bounded = nanos != 0 || last;
            link.awaitWritable(bounded, bounded ? deadline(nanos, last) : 0);
        } else {
            link.countCall();
        }
    }

    /**
     * Waits until the system has taken everything that was written, as long as a write may wait. Whether it has arrived,
     * only the peer knows.
     *
     * @throws IOException if the connection ends before; else as a write that waits: see the class comment
     */
    public void flush() throws IOException {
        CompletableFuture<Void> written = connection.written();
        long nanos = writeNanos;
        boolean last = limited;
        boolean bounded = nanos != 0 || last;
        link.awaitWritten(written, bounded, bounded ? deadline(nanos, last) : 0);
        try {
            written.get(); // it is done
        } catch (InterruptedException e) {
            throw link.interrupted("flush");
        } catch (ExecutionException e) {
            throw link.tell(new IOException("cannot flush " + connection, e.getCause()));
        }
    }

    /**
     * Tells the peer that no more bytes follow, after everything that was written. The peer can still send.
     *
     * @throws IOException never; so that it reads as {@code Socket.shutdownOutput}
     */
    public void closeOutput() throws IOException {
        connection.closeOutput();
    }

    // ---- Streams ----

    /**
     * Returns the input as a stream. Closing it closes the connection.
     *
     * @return a view of this socket: what one leaves behind, the other gets
     */
    public InputStream inputStream() {
        return new SocketStreams.Input(this);
    }

    /**
     * Returns the output as a stream. Closing it closes the connection. Its {@code flush} does nothing, because
     * everything that was written goes out when the thread waits.
     *
     * @return a view of this socket
     */
    public OutputStream outputStream() {
        return new SocketStreams.Output(this);
    }

    // ---- Time ----

    /**
     * Limits how long a read may wait.
     *
     * @param limit for each call; zero, which means any time, at first
     */
    public void setReadTimeout(Duration limit) {
        readNanos = Durations.limitNanos(limit, "the read timeout");
    }

    /**
     * Limits how long a write may wait for the peer to take what was written before.
     *
     * @param limit for each call; zero, which means any time, at first. The connection has its own limit, too: see {@link
     *     TcpServer.Builder#writeTimeout}
     */
    public void setWriteTimeout(Duration limit) {
        writeNanos = Durations.limitNanos(limit, "the write timeout");
    }

    /**
     * Limits how long all that follows may take together: after that, reads and writes that would have to wait fail.
     *
     * @param limit from now; zero for any time
     */
    public void setTimeLimit(Duration limit) {
        long nanos = Durations.limitNanos(limit, "the time limit");
        lastMoment = link.nanoTime() + nanos;
        limited = nanos != 0;
    }

    // ---- The connection ----

    /**
     * Returns the connection itself, for what has no method here: its number, its idle timeouts, its attachment.
     *
     * @return its handler belongs to this socket: do not set a framing, and leave pausing to it
     */
    public Connection connection() {
        return connection;
    }

    /**
     * Returns the local address.
     *
     * @return the address and port of this end
     */
    public InetSocketAddress localAddress() {
        return connection.localAddress();
    }

    /**
     * Returns the peer's address.
     *
     * @return the address and port of the other end; for a Unix socket, see {@link Connection#remoteAddress}
     */
    public InetSocketAddress remoteAddress() {
        return connection.remoteAddress();
    }

    /**
     * Returns what was agreed on in the TLS handshake, which is over when a conversation begins or a connect returns.
     *
     * @return empty on a connection without TLS
     */
    public Optional<TlsSession> tls() {
        return connection.tls();
    }

    /**
     * Returns where the Unix socket is over which the two ends are connected.
     *
     * @return the address of the listener, on both ends; null for a connection over TCP
     */
    public @Nullable UnixAddress unixAddress() {
        return connection.unixAddress();
    }

    /**
     * Returns whether the server is being shut down. A conversation that has no natural end should look at this between
     * two requests: at the deadline it is interrupted, and its connection closed.
     *
     * @return true from then on
     */
    public boolean isShuttingDown() {
        return link.isShuttingDown();
    }

    /**
     * Returns whether the connection is closed or being closed.
     *
     * @return true from then on
     */
    public boolean isClosed() {
        return link.isClosed();
    }

    /** Flushes pending output, then closes: see {@link Connection#close}. Threads that wait are woken. Idempotent. */
    @Override
    public void close() {
        link.close();
    }

    /** Closes at once: pending output is lost, and the peer sees a reset. Threads that wait are woken. Idempotent. */
    public void abort() {
        link.reset();
    }

    @Override
    public String toString() {
        return connection.toString();
    }
}
