package io.millrace.server;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A connection of a {@link TcpServer} or a {@link TcpClient}.
 *
 * <p><b>Sending.</b> Bytes go out in the order of the calls: a call that begins after another has returned, on whatever threads, comes behind it. {@code send} takes them before it returns, on every thread and in every callback: afterwards the buffer is the caller's again. Small
 * pieces that a connection's own callback sends on its loop are gathered, and handed to the system once, when the callback returns; a larger piece goes to the system at once. What is
 * sent elsewhere goes out at the end of the loop's turn. What the system does not take waits in the connection's queue. A write that fails ends the connection after the callback
 * that made it.
 *
 * <p><b>Back pressure.</b> While more waits than the high-water mark, the connection is not read, so that a peer that does not read cannot have the queue grow
 * by its requests; when it has fallen to the low one, it is read again and {@link ConnectionHandler#onWritable} is called. A send that finds more waiting than the limit is refused before
 * anything is copied, and the connection is closed; so one connection holds no more than the limit and one message. What waits for all connections together has a limit too: see {@link
 * TcpServer.Builder#budget}.
 *
 * <p><b>Files.</b> A file goes out in order with the bytes, from the system's memory to the socket without a detour through this process where the system can do that. What waits of it counts for
 * the water marks, but takes no memory and does not count for the limit. A fast peer gets 1 MiB of it in a turn of the loop, then it is the others' turn.
 * What the system has not in memory it fetches from the device meanwhile, and the loop waits for it.
 *
 * <p><b>Threads.</b> Any. After close nothing of it is kept.
 */
public sealed interface Connection permits StreamConnection {
    /**
     * Its number: unique in its server or client, and never used again.
     *
     * @return positive
     */
    long id();

    /**
     * Our end. Asked of the system when it is first wanted, and known from then on.
     *
     * @return the local address
     * @throws IllegalStateException if it is not connected yet, or is closed and nobody had asked before: who wants it in {@code onDisconnect} asks in {@code onConnect}
     */
    InetSocketAddress localAddress();

    /**
     * The peer's end.
     *
     * @return the remote address
     */
    InetSocketAddress remoteAddress();

    /**
     * Sends bytes. They are taken before this returns, or refused: after {@link #close} or {@link #closeOutput}, on whatever thread, they are refused. Bytes that were taken go out before a close that
     * comes later takes effect.
     *
     * @param data from its position to its limit. If the bytes were taken, its position is its limit afterwards, and the buffer may be used again at once; if they were refused it is as it was
     * @return whether they were taken
     */
    SendResult send(ByteBuffer data);

    /**
     * Sends text as UTF-8.
     *
     * @param text any
     * @return whether it was taken
     */
    default SendResult send(String text) {
        return send(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * Sends a file as it is long now: {@link #sendFile(Path, long, long)} of all of it.
     *
     * @param file a regular file of the default file system
     * @return whether it was taken
     * @throws java.nio.file.NoSuchFileException if there is no such file
     * @throws java.nio.file.AccessDeniedException if it may not be read
     * @throws IOException if it cannot be opened otherwise, e.g. because too many files are open
     */
    SendResult sendFile(Path file) throws IOException;

    /**
     * Sends a piece of a file, in order with what else is sent. The file is opened before this returns, and closed when it is sent or the connection is over; meanwhile it may be
     * deleted, or replaced by renaming another one, without harm. Its bytes are read while they go out: one that is made shorter meanwhile cannot be sent to its end, so the connection is closed, and
     * {@link ConnectionHandler#onError} told. An empty piece sends nothing.
     *
     * @param file a regular file of the default file system
     * @param position of the first byte
     * @param count how many bytes
     * @return whether it was taken; if not, nothing of it is sent
     * @throws java.nio.file.NoSuchFileException if there is no such file
     * @throws java.nio.file.AccessDeniedException if it may not be read
     * @throws java.io.EOFException if the file has not so many bytes from there on
     * @throws IOException if it cannot be opened otherwise, e.g. because too many files are open
     * @throws IllegalArgumentException if position or count is negative
     */
    SendResult sendFile(Path file, long position, long count) throws IOException;

    /**
     * How many bytes wait to be taken by the system, those of files included.
     *
     * @return a gauge
     */
    long queuedBytes();

    /** Reads no more until {@link #resumeReads}: the peer's bytes stay in the kernel, and then with the peer. */
    void pauseReads();

    /** Undoes {@link #pauseReads}. */
    void resumeReads();

    /**
     * Sends what waits, and then tells the peer that no more will come; it can still send. Nothing is taken from the moment this is called. When the peer has ended too, before or after, and all is sent, the
     * connection is over.
     */
    void closeOutput();

    /**
     * Sends what waits, and then closes. A peer that does not take it is waited for until the write timeout; one that goes on sending is told that no more comes, and its bytes are read
     * and forgotten for a second, so that it gets all that was sent. Idempotent.
     */
    void close();

    /** Closes at once; what waits is lost. Idempotent. */
    void abort();

    /**
     * Whether it was closed, or is being closed.
     *
     * @return true from then on
     */
    boolean isClosed();

    /**
     * Closes the connection when nothing was received or sent for that long. While {@link #pauseReads} leaves unread what the peer has sent, it is not silent.
     *
     * @param timeout zero for never
     */
    void setIdleTimeout(Duration timeout);

    /**
     * What the user attached.
     *
     * @return null at first
     */
    @Nullable
    Object attachment();

    /**
     * Attaches something of the user's.
     *
     * @param attachment anything
     */
    void setAttachment(@Nullable Object attachment);
}
