package io.millrace.net;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

/** A TCP connection as a {@code java.nio} channel. */
final class NioTcp implements TcpTransport {
    private final SocketChannel channel;
    private final NioBytes bytes;

    /** A channel that does not block. */
    NioTcp(SocketChannel channel) {
        this.channel = channel;
        this.bytes = new NioBytes(channel);
    }

    @Override
    public NioBytes bytes() {
        return bytes;
    }

    @Override
    public boolean finishConnect() throws IOException {
        return channel.finishConnect();
    }

    @Override
    public void shutdownInput() throws IOException {
        channel.shutdownInput();
    }

    @Override
    public void shutdownOutput() throws IOException {
        channel.shutdownOutput();
    }

    @Override
    public void setNoDelay(boolean on) throws IOException {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, on);
    }

    @Override
    public InetSocketAddress localAddress() throws IOException {
        return (InetSocketAddress) channel.getLocalAddress();
    }
}
