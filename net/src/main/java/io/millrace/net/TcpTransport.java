package io.millrace.net;

import java.io.IOException;
import java.net.InetSocketAddress;

/** What a TCP connection can do beside moving bytes. A call on a closed one throws ClosedChannelException. */
sealed interface TcpTransport permits FdTcp, NioTcp {
    ByteTransport bytes();

    /**
     * Asks how the connect ended.
     *
     * @return false while it is under way
     */
    boolean finishConnect() throws IOException;

    void shutdownInput() throws IOException;

    void shutdownOutput() throws IOException;

    void setNoDelay(boolean on) throws IOException;

    InetSocketAddress localAddress() throws IOException;
}
