package io.millrace.net.nio;

import io.millrace.net.family.AcceptCalls;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Bits;
import io.millrace.sys.NioHandle;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/** A listening socket as a {@code java.nio} channel. */
final class NioAcceptor implements AcceptCalls {
    private final ServerSocketChannel channel;
    private final KernelHandle handle;

    /** A channel that does not block. */
    NioAcceptor(ServerSocketChannel channel) {
        this.channel = channel;
        this.handle = new KernelHandle(new NioHandle(channel));
    }

    @Override
    public KernelHandle handle() {
        return handle;
    }

    @Override
    public @Nullable Accepted accept() throws IOException {
        SocketChannel accepted = channel.accept();
        if (accepted == null) {
            handle.drained(Bits.READABLE);
            return null;
        }
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
