package io.millrace.net.family;

import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * What a connection of bytes can do, TCP or Unix, beside what {@link ByteCalls} does.
 */
public interface StreamCalls extends ByteCalls, SocketSettings {
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
     * @return how many bytes; end of file; or would-block
     */
    long send(FileCalls file, long position, long count) throws IOException;

    /** Of a TCP connection; asks the system each time. */
    InetSocketAddress localAddress() throws IOException;
}
