package io.millrace.net.family;

import java.io.IOException;
import java.net.InetSocketAddress;

/** What a TCP or Unix connection can do in addition to {@link ByteCalls}. */
public interface StreamCalls extends ByteCalls, SocketSettings {
    /**
     * Returns whether the connect has ended, and throws if it failed.
     *
     * @return false while it is in progress
     */
    boolean finishConnect() throws IOException;

    /** Returns whether bytes may have arrived that were not read; see {@code ByteStream.mayHaveInput}. */
    boolean mayHaveInput() throws IOException;

    void shutdownInput() throws IOException;

    void shutdownOutput() throws IOException;

    /**
     * Sends at least one byte of a file.
     *
     * @return how many bytes; end of file; or would-block
     */
    long send(FileCalls file, long position, long count) throws IOException;

    /** Returns the local address of a TCP connection; asks the system each time. */
    InetSocketAddress localAddress() throws IOException;
}
