package io.millrace.net;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * A connection that carries bytes both ways: {@link TcpStream} and {@link UnixStream}, which behave alike. {@link Io} says how
 * the calls that move bytes behave.
 *
 * <p><b>Ending.</b> {@link #shutdownOutput} tells the peer that no more will come, and what it sends can still be read, up to
 * {@link #EOF}. A connection that the peer reset gives an {@link IOException} from the calls that follow; close it then.
 *
 * <p><b>Threads.</b> Any thread may call, one for each direction at a time. Close comes from any thread at any time.
 */
public sealed interface ByteStream extends Io permits SocketStream {
    /**
     * Asks how the attempt to connect ended; call it when the stream is reported writable. Costs no system call once it returned true.
     *
     * @return true if the stream is connected; false while the attempt is under way
     * @throws java.net.ConnectException if it failed; the stream is closed then
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException never otherwise
     */
    boolean finishConnect() throws IOException;

    /**
     * Whether it was accepted, or {@link #finishConnect} returned true, and it is not closed. What the peer did since is not
     * asked.
     *
     * @return true if bytes can be moved
     */
    boolean isConnected();

    /**
     * Reads what is there, up to the buffer's room.
     *
     * @param into where the bytes go, from its position on
     * @return how many bytes, {@link #EOF}, or {@link #WOULD_BLOCK}; 0 only for a buffer without room
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the connection failed, e.g. was reset
     * @throws IllegalArgumentException if the buffer is read-only
     * @throws IllegalStateException if the stream is not connected yet
     */
    int tryRead(ByteBuffer into) throws IOException;

    /**
     * Reads what is there into several buffers, one after the other.
     *
     * @param into where the bytes go, from each one's position on
     * @param offset the index of the first buffer
     * @param length how many buffers
     * @return how many bytes, {@link #EOF}, or {@link #WOULD_BLOCK}; 0 only for buffers without room
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the connection failed, e.g. was reset
     * @throws IllegalArgumentException if one of them is read-only
     * @throws IndexOutOfBoundsException if the range is not within the array
     * @throws IllegalStateException if the stream is not connected yet
     */
    int tryRead(ByteBuffer[] into, int offset, int length) throws IOException;

    /**
     * Reads what is there, up to the segment's size.
     *
     * @param into where the bytes go, from its beginning on
     * @return how many bytes, {@link #EOF}, or {@link #WOULD_BLOCK}; 0 only for an empty segment
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the connection failed, e.g. was reset
     * @throws IllegalArgumentException if the segment is read-only
     * @throws IllegalStateException if the stream is not connected yet, or the segment's arena is closed
     * @throws WrongThreadException if the segment is confined to another thread
     */
    int tryRead(MemorySegment into) throws IOException;

    /**
     * Writes what the kernel has room for.
     *
     * @param from the bytes, from its position on
     * @return how many bytes, or {@link #WOULD_BLOCK}; 0 only for an empty buffer
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the connection failed, e.g. was reset, or the output was shut down
     * @throws IllegalStateException if the stream is not connected yet
     */
    int tryWrite(ByteBuffer from) throws IOException;

    /**
     * Writes what the kernel has room for, of several buffers, one after the other.
     *
     * @param from the bytes, from each one's position on
     * @param offset the index of the first buffer
     * @param length how many buffers
     * @return how many bytes, or {@link #WOULD_BLOCK}; 0 only for empty buffers
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the connection failed, e.g. was reset, or the output was shut down
     * @throws IndexOutOfBoundsException if the range is not within the array
     * @throws IllegalStateException if the stream is not connected yet
     */
    int tryWrite(ByteBuffer[] from, int offset, int length) throws IOException;

    /**
     * Writes what the kernel has room for.
     *
     * @param from the bytes, from its beginning on
     * @return how many bytes, or {@link #WOULD_BLOCK}; 0 only for an empty segment
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the connection failed, e.g. was reset, or the output was shut down
     * @throws IllegalStateException if the stream is not connected yet, or the segment's arena is closed
     * @throws WrongThreadException if the segment is confined to another thread
     */
    int tryWrite(MemorySegment from) throws IOException;

    /**
     * Sends bytes of a file, as many as the kernel has room for, and leaves where the file's calls without a position are. If stream and file are of one family the bytes
     * do not pass through this process (sendfile(2) on Linux); otherwise, and where the file's system cannot do that, they are copied, up to 64 KiB in a call.
     *
     * <p>Fewer bytes than asked for say nothing about the stream: only {@link #WOULD_BLOCK} says that it is full, so call on until then. What is not in memory is
     * fetched from the device while the call lasts.
     *
     * @param file open for reading; stays the caller's
     * @param position in the file, not negative
     * @param count how many bytes at most, up to 1 GiB in a call; not negative
     * @return how many bytes; {@link #EOF} if the file has none at the position; or {@link #WOULD_BLOCK}; 0 only if none were asked for
     * @throws java.nio.channels.ClosedChannelException if the stream or the file is closed
     * @throws IOException if the connection failed, e.g. was reset, or the output was shut down; or if the file cannot be read, e.g. because it was opened for
     *     writing only
     * @throws IllegalArgumentException if the position or the count is negative
     * @throws IllegalStateException if the stream is not connected yet
     */
    long trySend(FileSource file, long position, long count) throws IOException;

    /**
     * Sends no more: the peer reads to the end of the stream. Idempotent.
     *
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     * @throws IllegalStateException if the stream is not connected yet
     */
    void shutdownOutput() throws IOException;

    /**
     * Reads no more: every further read is at the end of the stream, and what the peer sends is thrown away. The peer is not told.
     * Idempotent.
     *
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     * @throws IllegalStateException if the stream is not connected yet
     */
    void shutdownInput() throws IOException;

    /**
     * How many bytes the kernel takes before a write would block (SO_SNDBUF).
     *
     * @return the size in bytes
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     */
    int sendBuffer() throws IOException;

    /**
     * Asks for a size of the kernel's send buffer; the system may take it for more or less.
     *
     * @param bytes the size in bytes
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     * @throws IllegalArgumentException if the size is not positive
     */
    void setSendBuffer(int bytes) throws IOException;

    /**
     * How many bytes the kernel keeps that nobody has read yet (SO_RCVBUF).
     *
     * @return the size in bytes
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     */
    int receiveBuffer() throws IOException;

    /**
     * Asks for a size of the kernel's receive buffer; the system may take it for more or less. For an accepted TCP connection it
     * is better set at the listener: {@link ListenOptions#withReceiveBuffer}.
     *
     * @param bytes the size in bytes
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     * @throws IllegalArgumentException if the size is not positive
     */
    void setReceiveBuffer(int bytes) throws IOException;
}
