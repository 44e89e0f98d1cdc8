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
 * <p><b>Sending.</b> {@link #send} takes all the bytes before it returns, on every thread and in every callback, so you
 * can reuse the buffer at once. Bytes go out in the order of the calls: if one call has returned before another begins,
 * on whatever threads, its bytes are first. Small pieces sent by a callback of this connection on its loop are gathered
 * and written together when the callback returns; a larger piece is written at once. What other code sends is written
 * at the end of the loop's turn. Whatever the system does not accept waits in the connection's queue. If a write fails,
 * the connection ends after the callback that made it.
 *
 * <p><b>Back pressure.</b> While more bytes are waiting than the high-water mark, the connection is not read; so a peer
 * that does not read cannot make the queue grow by sending requests. When no more than the low-water mark is waiting,
 * reading resumes and {@link ConnectionHandler#onWritable} is called. If more bytes than the limit are waiting, a send
 * is refused before anything is copied, and the connection is closed; so a connection never holds more than the limit
 * and one message. There is also a limit for all connections together: see {@link TcpServer.Builder#budget}.
 *
 * <p><b>Files.</b> A file goes out in order with the other bytes. If the system supports it, the bytes go directly from
 * the kernel's memory to the socket, without passing through this process. A waiting file counts towards the water
 * marks but, because it takes no memory, not towards the limit. A fast peer gets at most 1 MiB of a file in one turn of
 * the loop; then other connections have their turn. If the content is not in memory, the loop waits while the system
 * reads it from the device.
 *
 * <p><b>Threads.</b> Any thread may call any method. After it is closed, the library keeps no reference to it.
 */
public sealed interface Connection permits StreamConnection {
    /**
     * Returns the connection's number, which is unique within its server or client and never reused.
     *
     * @return a positive number
     */
    long id();

    /**
     * Returns the local address. The system is asked when it is first wanted; after that it is known.
     *
     * @return the address and port of this end
     * @throws IllegalStateException if the connection is not established yet, or is closed and nobody has asked before; to
     *     have it in {@code onDisconnect}, ask in {@code onConnect}
     */
    InetSocketAddress localAddress();

    /**
     * Returns the peer's address.
     *
     * @return the address and port of the other end
     */
    InetSocketAddress remoteAddress();

    /**
     * Sends bytes. They are either all taken before this returns, or refused. They are refused once {@link #close} or
     * {@link #closeOutput} was called, on any thread. Bytes that were taken go out before a later close takes effect.
     *
     * @param data the bytes from its position to its limit. If they were taken, its position is moved to its limit, and
     *     the buffer may be reused at once; if they were refused, the buffer is unchanged
     * @return whether they were taken
     */
    SendResult send(ByteBuffer data);

    /**
     * Sends text as UTF-8.
     *
     * @param text the text
     * @return whether it was taken
     */
    default SendResult send(String text) {
        return send(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * Sends a whole file, with its current length: see {@link #sendFile(Path, long, long)}.
     *
     * @param file a regular file of the default file system
     * @return whether it was taken
     * @throws java.nio.file.NoSuchFileException if there is no such file
     * @throws java.nio.file.AccessDeniedException if it may not be read
     * @throws IOException if it cannot be opened for another reason, for example because too many files are open
     */
    SendResult sendFile(Path file) throws IOException;

    /**
     * Sends part of a file, in order with everything else that is sent. The file is opened before this returns, and
     * closed when it is sent or the connection has ended. Meanwhile it may be deleted, or replaced by renaming another
     * file. Its bytes are read while they go out: if the file is truncated meanwhile, it cannot be sent to its end, so
     * the connection is closed, and {@link ConnectionHandler#onError} is called. An empty part sends nothing.
     *
     * @param file a regular file of the default file system
     * @param position the first byte to send
     * @param count how many bytes to send
     * @return whether it was taken; if not, nothing of it is sent
     * @throws java.nio.file.NoSuchFileException if there is no such file
     * @throws java.nio.file.AccessDeniedException if it may not be read
     * @throws java.io.EOFException if the file has fewer bytes from that position on
     * @throws IOException if it cannot be opened for another reason, for example because too many files are open
     * @throws IllegalArgumentException if position or count is negative
     */
    SendResult sendFile(Path file, long position, long count) throws IOException;

    /**
     * Returns how many bytes are waiting to be sent, including those of files.
     *
     * @return a momentary value
     */
    long queuedBytes();

    /**
     * Stops reading until {@link #resumeReads} is called. The peer's bytes stay in the kernel and, when its buffer is
     * full, with the peer.
     */
    void pauseReads();

    /** Undoes {@link #pauseReads}. */
    void resumeReads();

    /**
     * Flushes pending output, then tells the peer that no more bytes will follow. The peer can still send. From the
     * moment this is called, further sends are refused. When the peer has ended its direction too,
     * before or after, and everything is sent, the connection ends.
     */
    void closeOutput();

    /**
     * Flushes pending output, then closes. If the peer does not take the output, the connection is closed at the write
     * timeout. If the peer keeps sending, it is told that no more bytes will follow, and for one second its bytes are
     * read and discarded, so that it receives everything that was sent. Idempotent.
     */
    void close();

    /** Closes at once; pending output is lost. Idempotent. */
    void abort();

    /**
     * Returns whether the connection is closed or being closed.
     *
     * @return true from then on
     */
    boolean isClosed();

    /**
     * Sets after which time without received or sent bytes the connection is closed. While {@link
     * #pauseReads} leaves bytes of the peer unread, the connection is not idle.
     *
     * @param timeout zero for never
     */
    void setIdleTimeout(Duration timeout);

    /**
     * Returns the object that was attached with {@link #setAttachment}.
     *
     * @return null at first
     */
    @Nullable
    Object attachment();

    /**
     * Attaches an object of your choice, for example the state of a session.
     *
     * @param attachment any object, or null
     */
    void setAttachment(@Nullable Object attachment);
}
