package io.millrace.netty;

import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.posix.SocketSetting;
import io.millrace.sys.posix.SocketSteps;
import io.millrace.sys.posix.Sockets;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.ServerSocketChannelConfig;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * A TCP listener on Millrace's loops: the counterpart of {@code NioServerSocketChannel} and {@code
 * EpollServerSocketChannel}. The wildcard address means every address of both families.
 */
public final class MillraceServerSocketChannel extends ListenerChannel implements ServerSocketChannel {
    private final int family;
    private final ListenerConfig config;

    /** Opens a socket; SO_REUSEADDR is on, as for every listener in Java. */
    public MillraceServerSocketChannel() {
        this(open());
    }

    private MillraceServerSocketChannel(SocketSteps.Opened socket) {
        super(socket.descriptor());
        this.family = socket.family();
        this.config = new ListenerConfig(this, SocketOption.TCP_LISTENER);
    }

    private static SocketSteps.Opened open() {
        try {
            SocketSteps.Opened socket = SocketSteps.openStream(SocketSteps.Reach.BOTH);
            try {
                SocketSetting.REUSE_ADDRESS.set(socket.descriptor().fd(), 1);
                return socket;
            } catch (ErrnoException e) {
                socket.descriptor().close();
                throw e;
            }
        } catch (ErrnoException e) {
            throw new ChannelException("cannot open a TCP socket: " + e.getMessage(), e);
        }
    }

    @Override
    public ServerSocketChannelConfig config() {
        return config;
    }

    @Override
    public @Nullable InetSocketAddress localAddress() {
        return (InetSocketAddress) super.localAddress();
    }

    @Override
    public @Nullable InetSocketAddress remoteAddress() {
        return null;
    }

    @Override
    void listen(SocketAddress address) throws Exception {
        InetSocketAddress internet = resolved(address);
        int fd = use();
        try {
            SocketSteps.bind(fd, family, internet);
            SocketSteps.listen(fd, config.getBacklog());
            local = Sockets.localAddress(fd);
        } catch (ErrnoException e) {
            throw SocketErrors.bind(e);
        } finally {
            descriptor.release();
        }
    }

    @Override
    @Nullable
    Channel accept() throws Exception {
        Sockets.Accepted accepted = Sockets.accept(fd());
        return accepted == null
                ? null
                : new MillraceSocketChannel(
                        this, new SocketSteps.Opened(accepted.descriptor(), family), accepted.remote());
    }
}
