package io.millrace.netty;

import io.millrace.sys.Descriptor;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.posix.SocketSteps;
import io.millrace.sys.posix.Sockets;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import org.jspecify.annotations.Nullable;

/**
 * A listener on a Unix socket on Millrace's loops: the counterpart of {@code NioServerDomainSocketChannel}. Addresses
 * are {@link UnixDomainSocketAddress}es. As there, closing it deletes the socket's file.
 */
public final class MillraceServerDomainSocketChannel extends ListenerChannel {
    private final ListenerConfig config;

    /** Opens a socket. */
    public MillraceServerDomainSocketChannel() {
        super(MillraceDomainSocketChannel.open());
        this.config = new ListenerConfig(this, SocketOption.UNIX);
    }

    @Override
    public ChannelConfig config() {
        return config;
    }

    @Override
    void listen(SocketAddress address) throws Exception {
        byte[] name = MillraceDomainSocketChannel.name(address);
        int fd = use();
        try {
            SocketSteps.bind(fd, name);
            local = address;
            SocketSteps.listen(fd, config.getBacklog());
        } catch (ErrnoException e) {
            throw SocketErrors.bind(e);
        } finally {
            descriptor.release();
        }
    }

    @Override
    @Nullable
    Channel accept() throws Exception {
        Descriptor accepted = Sockets.acceptUnix(fd());
        if (accepted == null) {
            return null;
        }
        MillraceDomainSocketChannel channel = new MillraceDomainSocketChannel(this, accepted, true);
        channel.local = local;
        return channel;
    }

    @Override
    protected void doClose() throws Exception {
        SocketAddress bound = local;
        try {
            super.doClose();
        } finally {
            if (bound instanceof UnixDomainSocketAddress unix) {
                try {
                    Files.deleteIfExists(unix.getPath());
                } catch (IOException e) {
                    // Its directory may be gone; then so is the file.
                }
            }
        }
    }
}
