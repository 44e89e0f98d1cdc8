package io.millrace.net;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * What a connection of bytes can do, TCP or Unix, beside what {@link ByteTransport} does. Results as in {@link Io}; a call on a closed
 * one throws ClosedChannelException.
 */
sealed interface StreamTransport extends Settings permits FdStream, NioStream {
    ByteTransport bytes();

    /** The buffers are writable, and the range is within the array. */
    int read(ByteBuffer[] into, int offset, int length) throws IOException;

    int write(ByteBuffer[] from, int offset, int length) throws IOException;

    /** The segment is writable. */
    int read(MemorySegment into) throws IOException;

    int write(MemorySegment from) throws IOException;

    /**
     * Asks how the connect ended.
     *
     * @return false while it is under way
     */
    boolean finishConnect() throws IOException;

    void shutdownInput() throws IOException;

    void shutdownOutput() throws IOException;

    /** Of a TCP connection. */
    InetSocketAddress localAddress() throws IOException;
}
