package io.millrace.net;

import io.millrace.net.family.ByteCalls;
import io.millrace.poll.Source;

/**
 * A source that bytes are read from or written to, and the results that its calls share.
 *
 * <p>{@code tryRead} and {@code tryWrite} never wait; they move what they can in one system call. They return the
 * number of bytes moved, which may be fewer than the buffer has room for or holds, or {@link #WOULD_BLOCK} if they
 * could move none; at the end, a read returns {@link #EOF}. An empty buffer gives 0 without a system call. The buffer's
 * position advances by exactly the number of bytes moved.
 *
 * <p><b>Edges.</b> After {@link io.millrace.poll.Trigger#EDGE} has reported a direction, it is reported again only once
 * it was drained: a call in that direction returned {@link #WOULD_BLOCK}, or moved fewer bytes than the buffer had room
 * for or held. So keep calling until one of the two happens; if the event said that the peer has closed or that there
 * is an error, until {@link #EOF} or an exception. Note that one call moves at most 64 KiB of a buffer that is not
 * direct, and moving exactly 64 KiB says nothing about what is left.
 *
 * <p><b>Buffers.</b> Direct buffers are passed to the kernel as they are. Heap buffers, and buffers over a segment of
 * an arena that can be closed, are copied.
 *
 * <p><b>Several buffers.</b> A vectored call moves bytes through the buffers in order, in one system call. It uses the
 * first 64 buffers, and at most 64 KiB of those that have to be copied; the rest is left for the next call. For the
 * rule on edges, this is what counts as the room of the buffers. No buffer may occur twice, and neither the array nor a
 * buffer may be changed during the call.
 *
 * <p><b>Segments.</b> A native segment is passed to the kernel as it is, up to 1 GiB of it, and its arena cannot be
 * closed during the call. A heap segment is copied, up to 64 KiB. Bytes are moved from or to its beginning; pass a
 * slice to continue.
 *
 * <p><b>Threads.</b> Any thread may call. A source does not order the bytes of overlapping calls: if two threads read,
 * or write, at the same time, they have to agree on an order themselves.
 */
public sealed interface Io extends Source, AutoCloseable
        permits ByteStream, FdSource, FileSource, Pipe.Reader, Pipe.Writer {
    /** The end of the stream: the peer sends no more. */
    int EOF = ByteCalls.EOF;

    /** Nothing was moved: wait until a {@link io.millrace.poll.Poll} reports the direction. */
    int WOULD_BLOCK = ByteCalls.WOULD_BLOCK;

    /**
     * Closes the source; if it is registered, it is deregistered first and never reported again. Any thread may call
     * this, even while another one is in a call; that call completes first. Idempotent.
     */
    @Override
    void close();
}
