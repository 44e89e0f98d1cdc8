package io.millrace.server;

import io.millrace.net.FileSource;
import io.millrace.net.UnixAddress;
import io.millrace.server.connection.ConnectionCalls;
import io.millrace.server.tls.TlsSession;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
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
 * <p><b>The end.</b> A peer that reads the regular end of the stream has got everything that was sent. If bytes are lost,
 * because of {@link #abort}, a timeout, a limit or a failure, the peer sees a reset instead, and everything that was
 * promised by {@code onWritten} and {@link #written} about these bytes fails.
 *
 * <p><b>Files.</b> A file goes out in order with the other bytes. If the system supports it, the bytes go directly from
 * the kernel's memory to the socket, without passing through this process. A waiting file counts towards the water
 * marks but, because it takes no memory, not towards the limit. A fast peer gets at most 1 MiB of a file in one turn of
 * the loop; then other connections have their turn. If the content is not in memory, the loop waits while the system
 * reads it from the device.
 *
 * <p><b>Threads.</b> Any thread may call any method. After it is closed, the library keeps no reference to it.
 */
public sealed interface Connection extends Executor permits ConnectionCalls {
    /**
     * Returns the connection's number, which is unique within its server or client and never reused.
     *
     * @return a positive number
     */
    long id();

    /**
     * Returns the local address. The first call asks the system; later calls return the same answer.
     *
     * @return the address and port of this end; over a Unix socket, the same as {@link #remoteAddress}
     * @throws IllegalStateException if the connection is not established yet, or if it is closed and this was never
     *     called before; to have the address in {@code onDisconnect}, ask for it in {@code onConnect}
     */
    InetSocketAddress localAddress();

    /**
     * Returns the peer's address.
     *
     * @return the address and port of the other end. A peer at a Unix socket has none: then this is an {@linkplain
     *     InetSocketAddress#isUnresolved unresolved} one that stands in for it, with the host {@code unix:} and the path,
     *     and port 0; {@link #unixAddress} tells where the socket is
     */
    InetSocketAddress remoteAddress();

    /**
     * Returns where the Unix socket is over which the two ends are connected.
     *
     * @return the address of the listener, on both ends; null for a connection over TCP
     */
    @Nullable
    UnixAddress unixAddress();

    /**
     * Returns what the two ends have agreed on, if the connection is encrypted with TLS: version, cipher, names,
     * certificates.
     *
     * @return empty for a plain connection; the same from {@code onConnect} on, also after the end
     */
    Optional<TlsSession> tls();

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
     * Sends bytes, and calls back when the system has taken them and everything that was sent before. Whether they have
     * arrived is known only to the peer.
     *
     * @param data as in {@link #send(ByteBuffer)}
     * @param onWritten called exactly once if the bytes were taken: when they have left this process, or when the
     *     connection ends before that. Not called if they were refused
     * @return whether they were taken
     */
    SendResult send(ByteBuffer data, WriteCallback onWritten);

    /**
     * Returns a future that completes when the system has taken everything that was sent before this call, including
     * files. A send counts as before if it has returned, on whatever thread.
     *
     * @return completes on the connection's thread, so dependent stages must not block there. Fails if the connection
     *     has ended, or ends, and some of the bytes were lost
     */
    CompletableFuture<Void> written();

    /**
     * Runs a task on the connection's thread, where its callbacks run: never at the same time as one of them, and in
     * order with them. Tasks run in the order in which they were given, by whatever threads. So a task may use whatever
     * the callbacks use, without a lock. This makes a connection an {@link
     * Executor} for the results of other work:
     *
     * {@snippet :
     * database.query(key).thenAcceptAsync(row -> connection.send(row), connection);
     * }
     *
     * What the task throws goes to {@link ConnectionHandler#onError}. If the connection ends first, a task that was
     * accepted runs before {@code onDisconnect}.
     *
     * @param task called exactly once, never before this returns if the caller is a callback of this connection
     * @throws java.util.concurrent.RejectedExecutionException if the connection has ended
     */
    @Override
    void execute(Runnable task);

    /**
     * Returns the server or client to which this connection belongs.
     *
     * @return to broadcast and to look up other connections
     */
    ServerContext server();

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
     * Sends part of a file that is open, as {@link #sendFile(Path, long, long)} does: for programs that look at a file
     * before they send it, and must send the one that they have looked at. The connection closes it, whatever comes of
     * this call.
     *
     * @param file opened for reading; of either family, though a file of the other family than the connection's is copied
     * @param position the first byte to send
     * @param count how many bytes to send
     * @return whether it was taken; if not, nothing of it is sent
     * @throws java.io.EOFException if the file has fewer bytes from that position on
     * @throws java.nio.channels.ClosedChannelException if the file is closed
     * @throws IOException if it cannot be read for another reason
     * @throws IllegalArgumentException if position or count is negative
     */
    SendResult sendFile(FileSource file, long position, long count) throws IOException;

    /**
     * Returns how many bytes are waiting to be sent, including those of files.
     *
     * @return a momentary value
     */
    long queuedBytes();

    /**
     * Returns how many bytes were read from the system, including those that were discarded because the connection was
     * being closed.
     *
     * @return a momentary value; it stays when the connection has ended
     */
    long bytesReceived();

    /**
     * Returns how many bytes the system has taken, including those of files. The peer has not necessarily read them.
     *
     * @return a momentary value; it stays when the connection has ended
     */
    long bytesSent();

    /**
     * Returns whether a send would leave the connection below its high-water mark, as far as is known now. After it has
     * returned false, {@link ConnectionHandler#onWritable} is called as soon as no more than the low-water mark is
     * waiting, unless this was called again and returned true, or the connection ends.
     *
     * <p>A callback of this connection that got {@link SendResult#ABOVE_HIGH_WATER} can simply wait for {@code
     * onWritable}, which comes after the callback. On any other thread, {@code onWritable} may be called before the
     * sender has recorded that it waits; so record it first, and then call this once more.
     *
     * @return false also if the connection is closed
     */
    boolean isWritable();

    /**
     * Stops reading until {@link #resumeReads} is called. The peer's bytes stay in the kernel and, when its buffer is
     * full, with the peer. With a {@link Framing}, frames that have arrived wait too. Without one, a handler that is not
     * called on the loop may still get a few pieces that were read before.
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
     * timeout, or at an idle timeout that is shorter, with a reset. If the peer has connected or sent something in the
     * last second, it is told that no more bytes will follow, and its bytes are read and discarded until it ends its
     * output, or for one second: so it receives everything that was sent, also if this is called in {@code onConnect}
     * while its first bytes are on their way. The handler gets no more bytes, and only {@link ConnectionHandler#onError} and {@link
     * ConnectionHandler#onDisconnect} are still called. Idempotent.
     */
    void close();

    /**
     * Closes at once; pending output is lost, including what the callback has sent that calls this. If there is any, the
     * peer sees a reset, and otherwise a regular end. The handler is told no more than after {@link #close}. Idempotent.
     */
    void abort();

    /**
     * Closes at once with a reset, so that the peer does not take what it got for the whole, for example because the
     * source of an answer has failed halfway. Pending output is lost, and so are bytes that the system has taken and the
     * peer has not. The other side of a {@link Relay} is reset, too, as after {@link #abort}. The handler is told no more
     * than after {@link #close}. Idempotent.
     */
    void reset();

    /**
     * Returns whether the connection is closed or being closed.
     *
     * @return true from then on
     */
    boolean isClosed();

    /**
     * Sets after which time without received or sent bytes the connection is closed: see {@link
     * ConnectionHandler#onIdle}. While {@link
     * #pauseReads} leaves bytes of the peer unread, or frames wait that were not delivered, the connection is not idle.
     *
     * @param timeout zero for never
     */
    void setIdleTimeout(Duration timeout);

    /**
     * Sets after which time without received bytes the connection is closed, no matter what is sent to it: so a broadcast
     * does not keep a peer that says nothing. See {@link ConnectionHandler#onIdle}.
     *
     * @param timeout zero for never
     */
    void setReadIdleTimeout(Duration timeout);

    /**
     * Sets after which time without sent bytes {@link ConnectionHandler#onIdle} is called, no matter what is received;
     * by default that closes the connection.
     *
     * @param timeout zero for never
     */
    void setWriteIdleTimeout(Duration timeout);

    /**
     * Sets how the bytes that come are split into frames from now on: for example for the body behind a head, or after
     * an upgrade to another protocol. The limits of the new framing apply from then on.
     *
     * <p>Of several calls the last one counts, in one callback as well as on several threads.
     *
     * <p>In a callback of this connection it applies to everything behind the frame that the callback was given, even
     * if it came in the same read. A callback that was given bytes as they came leaves to the framing what it has not
     * consumed: the bytes from the buffer's position on. Called elsewhere, it applies between two callbacks, and the
     * bytes of a frame that is not complete go to the new framing.
     *
     * @param framing {@link Framing#none} for bytes as they come, which is how a connection begins
     * @throws IllegalArgumentException if the framing has no valid maximum or time limit
     */
    void setFraming(Framing framing);

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
