package io.millrace.net.nio;

import io.millrace.net.family.AcceptCalls;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Bits;
import io.millrace.sys.NioHandle;
import io.millrace.sys.posix.SocketSetting;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A listening socket with a {@code java.nio} channel. */
final class NioAcceptor implements AcceptCalls {
    private final ServerSocketChannel channel;
    private final KernelHandle handle;

    private final Map<SocketSetting, Integer> settings;

    /**
     * Creates an acceptor on a non-blocking channel.
     *
     * @param settings applied to each accepted connection, because NIO does not allow them on the listener
     */
    NioAcceptor(ServerSocketChannel channel, Map<SocketSetting, Integer> settings) {
        this.channel = channel;
        this.settings = settings;
        this.handle = new KernelHandle(new NioHandle(channel));
    }

    @Override
    public KernelHandle handle() {
        return handle;
    }

    @Override
    public @Nullable Accepted accept() throws IOException {
        for (SocketChannel next = channel.accept(); next != null; next = channel.accept()) {
            Accepted accepted = accepted(next);
            if (AcceptCalls.takes(accepted.calls(), settings)) {
                return accepted;
            }
        }
        handle.markDrained(Bits.READABLE);
        return null;
    }

    private static Accepted accepted(SocketChannel accepted) throws IOException {
        try {
            accepted.configureBlocking(false);
            return new Accepted(
                    new NioStream(accepted),
                    accepted.getRemoteAddress() instanceof InetSocketAddress internet ? internet : null);
        } catch (IOException e) {
            accepted.close();
            throw e;
        }
    }
}
