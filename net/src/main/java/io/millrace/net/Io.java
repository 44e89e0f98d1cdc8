package io.millrace.net;

import io.millrace.net.family.ByteCalls;
import io.millrace.poll.Source;

/**
 * A source that bytes are read from or written to, and the results that its calls share.
 *
 * <p>A {@code tryRead} or {@code tryWrite} never waits and moves what it can in one system call. It returns the number of bytes
 * moved, which may be fewer than the buffer has room for or holds; {@link #WOULD_BLOCK} if it could move none; and a read
 * returns {@link #EOF} at the end. An empty buffer gives 0 and no system call. The buffer's position advances by what was moved, and
 * by nothing else.
 *
 * <p><b>Edges.</b> After {@link io.millrace.poll.Trigger#EDGE} reported a direction, it is reported again only once it was drained: a
 * call in that direction returned {@link #WOULD_BLOCK} or moved fewer bytes than the buffer had room for or held. So call until
 * one of the two; if the event said that the peer closed or that there is an error, until {@link #EOF} or an exception. A buffer
 * that is not direct is an exception to the exception: one call moves at most 64 KiB of it, and a full 64 KiB says nothing
 * about what is left.
 *
 * <p><b>Buffers.</b> Direct buffers go to the kernel as they are. Heap buffers, and buffers over a segment of an arena that can be
 * closed, are copied on the way.
 *
 * <p><b>Several buffers.</b> A vectored call moves bytes through the buffers in their order, in one system call. The first 64
 * of them count, and 64 KiB of those that are copied on the way; what is behind stays for the next call. So
 * <em>as many bytes as asked</em>, which is what is said of edges, means: as many as that. No buffer may occur twice, and nobody may
 * change the array or a buffer during the call.
 *
 * <p><b>Segments.</b> A native segment goes to the kernel as it is, up to 1 GiB of it, and its arena cannot be closed during the call; one
 * on the heap is copied on the way, up to 64 KiB. Bytes go to or come from its beginning; pass a slice to go on.
 *
 * <p><b>Threads.</b> Any thread may call. A source does not order the bytes of calls that overlap: reads by two threads
 * at once, or writes, need an order of your own.
 */
public sealed interface Io extends Source, AutoCloseable
        permits ByteStream, FdSource, FileSource, Pipe.Reader, Pipe.Writer {
    /** The end of the stream: the peer sends no more. */
    int EOF = ByteCalls.EOF;

    /** Nothing was moved: wait until a {@link io.millrace.poll.Poll} reports the direction. */
    int WOULD_BLOCK = ByteCalls.WOULD_BLOCK;

    /**
     * Closes it: deregistered first, if it is registered, and never reported again. From any thread, also while another one
     * is in a call: that call ends first. Idempotent.
     */
    @Override
    void close();
}
