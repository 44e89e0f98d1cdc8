package io.millrace.net;

import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * What a connection of bytes can do, TCP or Unix, beside what {@link ByteTransport} does. Results as in {@link Io}; a call on a closed
 * one throws ClosedChannelException.
 */
sealed interface StreamTransport extends Settings permits FdStream, NioStream {
    ByteTransport bytes();

    /**
     * Asks how the connect ended.
     *
     * @return false while it is under way
     */
    boolean finishConnect() throws IOException;

    void shutdownInput() throws IOException;

    void shutdownOutput() throws IOException;

    /**
     * Sends bytes of a file, at least one of which is asked for.
     *
     * @return as {@link ByteStream#trySend}
     */
    long send(FileTransport file, long position, long count) throws IOException;

    /** Of a TCP connection. */
    InetSocketAddress localAddress() throws IOException;
}
