package io.millrace.net;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** Sources that are {@code java.nio} channels. */
final class NioSources implements Sources {
    @Override
    public TcpListener listen(InetSocketAddress address, int backlog) throws IOException {
        // NIO itself sets SO_REUSEADDR, except on Windows, where it would let two programs share a port.
        ServerSocketChannel channel = ServerSocketChannel.open();
        return orClose(channel, () -> {
            try {
                channel.bind(address, backlog);
            } catch (SocketException e) {
                throw Failures.listen(address, e);
            }
            channel.configureBlocking(false);
            return new TcpListener(new NioAcceptor(channel), (InetSocketAddress) channel.getLocalAddress());
        });
    }

    @Override
    public TcpStream connect(InetSocketAddress address) throws IOException {
        SocketChannel channel = SocketChannel.open();
        return orClose(channel, () -> {
            channel.configureBlocking(false);
            try {
                boolean connected = channel.connect(address);
                return new TcpStream(new NioTcp(channel), address, connected);
            } catch (SocketException e) {
                throw Failures.connect(address, e);
            }
        });
    }

    @Override
    public Pipe pipe() throws IOException {
        java.nio.channels.Pipe pipe = java.nio.channels.Pipe.open();
        return orClose(
                pipe.source(),
                () -> orClose(pipe.sink(), () -> {
                    pipe.source().configureBlocking(false);
                    pipe.sink().configureBlocking(false);
                    return new Pipe(new NioBytes(pipe.source()), new NioBytes(pipe.sink()));
                }));
    }

    private interface Step<T> {
        T take() throws IOException;
    }

    /** A channel that does not become a source must not stay open. */
    private static <T> T orClose(SelectableChannel channel, Step<T> step) throws IOException {
        boolean done = false;
        try {
            T result = step.take();
            done = true;
            return result;
        } finally {
            if (!done) {
                channel.close();
            }
        }
    }

    @Override
    public String toString() {
        return "java.nio channels";
    }
}
