package io.millrace.netty;

import io.millrace.sys.Descriptor;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.posix.SocketSteps;
import io.millrace.sys.posix.UnixNames;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelException;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * A connection over a Unix socket on Millrace's loops: the counterpart of {@code NioDomainSocketChannel}. Addresses are
 * {@link UnixDomainSocketAddress}es.
 */
public final class MillraceDomainSocketChannel extends StreamChannel {
    private final UnixConfig config;

    /** Opens a socket. */
    public MillraceDomainSocketChannel() {
        this(null, open(), false);
    }

    MillraceDomainSocketChannel(@Nullable Channel parent, Descriptor descriptor, boolean connected) {
        super(parent, descriptor, connected);
        this.config = new UnixConfig(this);
    }

    static Descriptor open() {
        try {
            return SocketSteps.openUnix();
        } catch (ErrnoException e) {
            throw new ChannelException("cannot open a Unix socket: " + e.getMessage(), e);
        }
    }

    static byte[] name(SocketAddress address) {
        if (!(address instanceof UnixDomainSocketAddress unix)) {
            throw new ChannelException(
                    "a Unix socket has addresses of the type UnixDomainSocketAddress, not " + address);
        }
        return UnixNames.ofPath(unix.getPath());
    }

    @Override
    public ChannelConfig config() {
        return config;
    }

    @Override
    boolean isAllowHalfClosure() {
        return config.isAllowHalfClosure();
    }

    @Override
    int soLinger() {
        return -1;
    }

    @Override
    protected void doBind(SocketAddress address) throws Exception {
        byte[] name = name(address);
        int fd = use();
        try {
            SocketSteps.bind(fd, name);
            local = address;
        } catch (ErrnoException e) {
            throw SocketErrors.bind(e);
        } finally {
            descriptor.release();
        }
    }

    @Override
    boolean doConnect(SocketAddress remoteAddress, @Nullable SocketAddress localAddress) throws Exception {
        if (connected) {
            throw SocketErrors.alreadyConnected();
        }
        boolean done = false;
        try {
            byte[] name = name(remoteAddress);
            if (localAddress != null) {
                doBind(localAddress);
            }
            SocketSteps.connect(fd(), name);
            onConnected(remoteAddress);
            done = true;
            return true;
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
