package io.millrace.net;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * A connected socket that carries bytes in both directions: a {@link TcpStream} or a {@link UnixStream}, which behave
 * alike.
 *
 * <p><b>No call waits.</b> A read or write that can do nothing now returns {@link #WOULD_BLOCK}. After an edge, call
 * again until it does. {@link Io} describes what all calls that move bytes have in common.
 *
 * {@snippet :
 * int count;
 * while ((count = stream.tryRead(buffer)) > 0) {
 *   handle(buffer.flip());
 *   buffer.clear();
 * }
 * if (count == ByteStream.EOF) {
 *   stream.close();
 * } // else WOULD_BLOCK: wait for the next event
 * }
 *
 * <p><b>Ending.</b> {@link #shutdownOutput} tells the peer that no more bytes will follow; whatever the peer sends can
 * still be read, up to {@link #EOF}. If the peer resets the connection, the calls that follow throw an {@link
 * IOException}; close the stream then.
 *
 * <p><b>Threads.</b> Any thread may call, but only one per direction at a time. Any thread may close the stream at any
 * time.
 */
public sealed interface ByteStream extends Io permits SocketStream {
    /**
     * Returns how the attempt to connect ended. Call it when the stream is reported writable. Once it has returned
     * true, it makes no further system calls.
     *
     * @return true if the stream is connected; false if the attempt is still in progress
     * @throws java.net.ConnectException if the attempt failed; the stream is then closed
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException never for any other reason
     */
    boolean finishConnect() throws IOException;

    /**
     * Returns whether the stream was accepted, or {@link #finishConnect} has returned true, and it is not closed. Does
     * not check whether the peer is still there.
     *
     * @return true if bytes can be moved
     */
    boolean isConnected();

    /**
     * Reads what has arrived, as much as fits into the buffer.
     *
     * @param into where the bytes go, from its position on
     * @return how many bytes, {@link #EOF}, or {@link #WOULD_BLOCK}; 0 only for a buffer without room
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the connection failed, for example was reset
     * @throws IllegalArgumentException if the buffer is read-only
     * @throws IllegalStateException if the stream is not connected yet
     */
    int tryRead(ByteBuffer into) throws IOException;

    /**
     * Reads what has arrived into several buffers, in order.
     *
     * @param into where the bytes go, from each one's position on
     * @param offset the index of the first buffer
     * @param length how many buffers
     * @return how many bytes, {@link #EOF}, or {@link #WOULD_BLOCK}; 0 only for buffers without room
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the connection failed, for example was reset
     * @throws IllegalArgumentException if a buffer is read-only
     * @throws IndexOutOfBoundsException if the range is not within the array
     * @throws IllegalStateException if the stream is not connected yet
     */
    int tryRead(ByteBuffer[] into, int offset, int length) throws IOException;

    /**
     * Reads what has arrived, as much as fits into the segment.
     *
     * @param into where the bytes go, from its beginning on
     * @return how many bytes, {@link #EOF}, or {@link #WOULD_BLOCK}; 0 only for an empty segment
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the connection failed, for example was reset
     * @throws IllegalArgumentException if the segment is read-only
     * @throws IllegalStateException if the stream is not connected yet, or the segment's arena is closed
     * @throws WrongThreadException if the segment is confined to another thread
     */
    int tryRead(MemorySegment into) throws IOException;

    /**
     * Returns whether bytes may have arrived that were not read, without reading them. The end of the stream and a
     * failure do not count. Closing a TCP connection with unread bytes makes the system reset it, and then the peer may
     * lose what it was sent. Any thread may call this, also while another one reads; what it returns may be outdated
     * then.
     *
     * <p>On NIO there is no way to ask a Unix socket, so this always returns true there.
     *
     * @return false if nothing has arrived
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system cannot tell
     * @throws IllegalStateException if the stream is not connected yet
     */
    boolean mayHaveInput() throws IOException;

    /**
     * Writes as much as there is room for.
     *
     * @param from the bytes, from its position on
     * @return how many bytes, or {@link #WOULD_BLOCK}; 0 only for an empty buffer
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the connection failed, for example was reset, or the output was shut down
     * @throws IllegalStateException if the stream is not connected yet
     */
    int tryWrite(ByteBuffer from) throws IOException;

    /**
     * Writes as much as there is room for from several buffers, in order.
     *
     * @param from the bytes, from each one's position on
     * @param offset the index of the first buffer
     * @param length how many buffers
     * @return how many bytes, or {@link #WOULD_BLOCK}; 0 only for empty buffers
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the connection failed, for example was reset, or the output was shut down
     * @throws IndexOutOfBoundsException if the range is not within the array
     * @throws IllegalStateException if the stream is not connected yet
     */
    int tryWrite(ByteBuffer[] from, int offset, int length) throws IOException;

    /**
     * Writes as much as there is room for.
     *
     * @param from the bytes, from its beginning on
     * @return how many bytes, or {@link #WOULD_BLOCK}; 0 only for an empty segment
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the connection failed, for example was reset, or the output was shut down
     * @throws IllegalStateException if the stream is not connected yet, or the segment's arena is closed
     * @throws WrongThreadException if the segment is confined to another thread
     */
    int tryWrite(MemorySegment from) throws IOException;

    /**
     * Sends bytes of a file, as many as the kernel has room for, without moving the file's own position. If stream and
     * file belong to the same family, the bytes do not pass through this process (sendfile(2) on Linux). Otherwise, or
     * if the file system does not support that, up to 64 KiB per call are copied.
     *
     * <p>If fewer bytes than requested were sent, the stream is not necessarily full: call again until {@link
     * #WOULD_BLOCK}. If the file's content is not in memory, the call waits until the device has delivered it.
     *
     * @param file open for reading; not closed by this call
     * @param position the first byte in the file, not negative
     * @param count the most bytes to send, up to 1 GiB per call; not negative
     * @return how many bytes were sent; {@link #EOF} if the file ends before the position; or {@link #WOULD_BLOCK}; 0
     *     only if {@code count} is 0
     * @throws java.nio.channels.ClosedChannelException if the stream or the file is closed
     * @throws IOException if the connection failed, for example was reset, or the output was shut down; or if the file
     *     cannot be read, for example because it was opened for writing only
     * @throws IllegalArgumentException if the position or the count is negative
     * @throws IllegalStateException if the stream is not connected yet
     */
    long trySend(FileSource file, long position, long count) throws IOException;

    /**
     * Ends the output: the peer reads up to the end of the stream. Idempotent.
     *
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     * @throws IllegalStateException if the stream is not connected yet
     */
    void shutdownOutput() throws IOException;

    /**
     * Ends the input: every further read returns {@link #EOF}, and whatever the peer sends is discarded. The peer is
     * not told. Idempotent.
     *
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     * @throws IllegalStateException if the stream is not connected yet
     */
    void shutdownInput() throws IOException;

    /**
     * Returns how many bytes the kernel takes before a write would block (SO_SNDBUF).
     *
     * @return the size in bytes
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     */
    int sendBuffer() throws IOException;

    /**
     * Requests a size of the kernel's send buffer; the system may choose a larger or smaller one.
     *
     * @param bytes the size in bytes
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     * @throws IllegalArgumentException if the size is not positive
     */
    void setSendBuffer(int bytes) throws IOException;

    /**
     * Returns how many received bytes the kernel keeps until they are read (SO_RCVBUF).
     *
     * @return the size in bytes
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     */
    int receiveBuffer() throws IOException;

    /**
     * Requests a size of the kernel's receive buffer; the system may choose a larger or smaller one. For accepted TCP
     * connections it is better to set it on the listener: {@link ListenOptions#withReceiveBuffer}.
     *
     * @param bytes the size in bytes
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     * @throws IllegalArgumentException if the size is not positive
     */
    void setReceiveBuffer(int bytes) throws IOException;
}
