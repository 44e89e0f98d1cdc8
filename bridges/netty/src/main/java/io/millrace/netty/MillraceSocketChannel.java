package io.millrace.netty;

import io.millrace.sys.Descriptor;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.posix.SocketSteps;
import io.millrace.sys.posix.Sockets;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * A TCP connection on Millrace's loops: the counterpart of {@code NioSocketChannel} and {@code EpollSocketChannel}.
 *
 * <p>Besides the options of {@link SocketChannelConfig}, it has those of {@link MillraceChannelOption}.
 */
public final class MillraceSocketChannel extends StreamChannel implements SocketChannel {
    private final int family;
    private final TcpConfig config;

    /** Opens a socket for both address families; for IPv4 alone if there is no IPv6. */
    public MillraceSocketChannel() {
        this(null, open(), null);
    }

    MillraceSocketChannel(
            @Nullable Channel parent, SocketSteps.Opened socket, @Nullable InetSocketAddress connectedTo) {
        super(parent, socket.descriptor(), connectedTo != null);
        this.family = socket.family();
        this.remote = connectedTo;
        this.config = configOf(this, socket.descriptor());
    }

    private static TcpConfig configOf(MillraceSocketChannel channel, Descriptor descriptor) {
        boolean done = false;
        try {
            TcpConfig config = new TcpConfig(channel);
            done = true;
            return config;
        } finally {
            if (!done) {
                descriptor.close();
            }
        }
    }

    private static SocketSteps.Opened open() {
        try {
            return SocketSteps.openStream(SocketSteps.Reach.BOTH);
        } catch (ErrnoException e) {
            throw new ChannelException("cannot open a TCP socket: " + e.getMessage(), e);
        }
    }

    @Override
    public SocketChannelConfig config() {
        return config;
    }

    @Override
    boolean isAllowHalfClosure() {
        return config.isAllowHalfClosure();
    }

    @Override
    int soLinger() {
        return config.getSoLinger();
    }

    @Override
    public @Nullable ServerSocketChannel parent() {
        return (ServerSocketChannel) super.parent();
    }

    @Override
    public @Nullable InetSocketAddress localAddress() {
        return (InetSocketAddress) super.localAddress();
    }

    @Override
    public @Nullable InetSocketAddress remoteAddress() {
        return (InetSocketAddress) super.remoteAddress();
    }

    /** Asks the system when first asked itself: most connections never are. */
    @Override
    protected @Nullable SocketAddress localAddress0() {
        SocketAddress known = local;
        if (known == null) {
            known = askLocalAddress();
        }
        return known;
    }

    private @Nullable SocketAddress askLocalAddress() {
        try {
            int fd = use();
            try {
                InetSocketAddress found = Sockets.localAddress(fd);
                if (found.getPort() == 0) {
                    return null; // not bound yet
                }
                local = found;
                return found;
            } finally {
                descriptor.release();
            }
        } catch (IOException e) {
            return null;
        }
    }

    @Override
    protected void doBind(SocketAddress address) throws Exception {
        InetSocketAddress internet = resolved(address);
        int fd = use();
        try {
            SocketSteps.bind(fd, family, internet);
        } catch (ErrnoException e) {
            throw SocketErrors.bind(e);
        } finally {
            descriptor.release();
        }
        local = askLocalAddress();
    }

    @Override
    boolean doConnect(SocketAddress remoteAddress, @Nullable SocketAddress localAddress) throws Exception {
        if (connected) {
            throw SocketErrors.alreadyConnected();
        }
        boolean done = false;
        try {
            InetSocketAddress to = resolved(remoteAddress);
            if (localAddress != null) {
                doBind(localAddress);
            }
            boolean atOnce = SocketSteps.connect(fd(), family, to);
            if (atOnce) {
                onConnected(to);
            }
            done = true;
            return atOnce;
        } catch (ErrnoException e) {
            throw SocketErrors.connect(e);
        } finally {
            if (!done) {
                doClose();
            }
        }
    }

    @Override
    void onConnected(SocketAddress requested) {
        connected = true;
        remote = requested;
    }
}
