package io.millrace.vertx;

import io.millrace.engine.Reactors;
import io.millrace.netty.Millrace;
import io.millrace.netty.MillraceChannelOption;
import io.millrace.netty.MillraceDatagramChannel;
import io.millrace.netty.MillraceDomainSocketChannel;
import io.millrace.netty.MillraceServerDomainSocketChannel;
import io.millrace.netty.MillraceServerSocketChannel;
import io.millrace.netty.MillraceSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.InternetProtocolFamily;
import io.netty.channel.socket.SocketProtocolFamily;
import io.vertx.core.datagram.DatagramSocketOptions;
import io.vertx.core.net.TcpConfig;
import io.vertx.core.net.TcpOption;
import io.vertx.core.spi.transport.Transport;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.ThreadFactory;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** What Vert.x asks a transport for: loops, channels, and its options as those of channels. */
final class ChannelTransport implements Transport {
    private final @Nullable Reactors reactors;
    private final @Nullable Throwable unavailabilityCause;

    /**
     * @param reactors null for threads of Vert.x's
     * @param unavailabilityCause null if it is available
     */
    ChannelTransport(@Nullable Reactors reactors, @Nullable Throwable unavailabilityCause) {
        this.reactors = reactors;
        this.unavailabilityCause = unavailabilityCause;
    }

    @Override
    public boolean isAvailable() {
        return unavailabilityCause == null;
    }

    @Override
    public @Nullable Throwable unavailabilityCause() {
        return unavailabilityCause;
    }

    @Override
    public boolean supportsDomainSockets() {
        return true;
    }

    // ---- Addresses ----

    @Override
    public SocketAddress convert(io.vertx.core.net.SocketAddress address) {
        return address.isDomainSocket() ? UnixDomainSocketAddress.of(address.path()) : Transport.super.convert(address);
    }

    @Override
    public io.vertx.core.net.SocketAddress convert(SocketAddress address) {
        if (address instanceof UnixDomainSocketAddress unix) {
            Path path = unix.getPath();
            // As on Vert.x's NIO transport. That of a client is empty.
            return io.vertx.core.net.SocketAddress.domainSocketAddress(
                    path.toAbsolutePath().toString());
        }
        return Transport.super.convert(address);
    }

    // ---- Loops and channels ----

    @Override
    public IoHandlerFactory ioHandlerFactory() {
        return Millrace.ioHandlerFactory();
    }

    /** On reactors, a group of its own for the acceptors and for connections: Vert.x shuts down each of them. */
    @Override
    public EventLoopGroup eventLoopGroup(int type, int threads, ThreadFactory factory, int ioRatio) {
        return reactors == null
                ? Transport.super.eventLoopGroup(type, threads, factory, ioRatio)
                : Millrace.groupOn(reactors);
    }

    @Override
    @SuppressWarnings("deprecation") // the interface has it
    public DatagramChannel datagramChannel(InternetProtocolFamily family) {
        return new MillraceDatagramChannel(
                family == InternetProtocolFamily.IPv4 ? SocketProtocolFamily.INET : SocketProtocolFamily.INET6);
    }

    @Override
    public ChannelFactory<? extends DatagramChannel> datagramChannelFactory() {
        return MillraceDatagramChannel::new;
    }

    @Override
    public ChannelFactory<? extends Channel> channelFactory(boolean domainSocket) {
        return domainSocket ? MillraceDomainSocketChannel::new : MillraceSocketChannel::new;
    }

    @Override
    public ChannelFactory<? extends ServerChannel> serverChannelFactory(boolean domainSocket) {
        return domainSocket ? MillraceServerDomainSocketChannel::new : MillraceServerSocketChannel::new;
    }

    // ---- Options ----

    /** Vert.x sets the multicast options of its NIO channels only. */
    @Override
    public void configure(DatagramChannel channel, DatagramSocketOptions options) {
        channel.config().setOption(MillraceChannelOption.SO_REUSEPORT, options.isReusePort());
        Transport.super.configure(channel, options);
        channel.config().setLoopbackModeDisabled(options.isLoopbackModeDisabled());
        if (options.getMulticastTimeToLive() != -1) {
            channel.config().setTimeToLive(options.getMulticastTimeToLive());
        }
        String network = options.getMulticastNetworkInterface();
        if (network != null) {
            channel.config().setNetworkInterface(interfaceOf(network));
        }
    }

    private static NetworkInterface interfaceOf(String name) {
        try {
            NetworkInterface found = NetworkInterface.getByName(name);
            if (found != null) {
                return found;
            }
        } catch (SocketException e) {
            throw new IllegalArgumentException("cannot look up the network interface " + name, e);
        }
        throw new IllegalArgumentException("there is no network interface " + name);
    }

    @Override
    public void configure(TcpConfig config, boolean domainSocket, ServerBootstrap bootstrap) {
        if (!domainSocket) {
            bootstrap.option(MillraceChannelOption.SO_REUSEPORT, config.isSoReusePort());
            Integer fastOpen = config.getOption(TcpOption.FASTOPEN);
            if (fastOpen != null && fastOpen > 0) {
                bootstrap.option(ChannelOption.TCP_FASTOPEN, fastOpen);
            }
            setKeepAlive(config, bootstrap::childOption);
        }
        Transport.super.configure(config, domainSocket, bootstrap);
    }

    @Override
    public void configure(TcpConfig config, boolean domainSocket, Bootstrap bootstrap) {
        if (!domainSocket) {
            setKeepAlive(config, bootstrap::option);
        }
        Transport.super.configure(config, domainSocket, bootstrap);
    }

    private static void setKeepAlive(TcpConfig config, BiConsumer<ChannelOption<Integer>, Integer> option) {
        setUnlessZero(config.getOption(TcpOption.KEEPIDLE), MillraceChannelOption.TCP_KEEPIDLE, option);
        setUnlessZero(config.getOption(TcpOption.KEEPINTVL), MillraceChannelOption.TCP_KEEPINTVL, option);
        setUnlessZero(config.getOption(TcpOption.KEEPCNT), MillraceChannelOption.TCP_KEEPCNT, option);
    }

    private static void setUnlessZero(
            @Nullable Integer value,
            ChannelOption<Integer> option,
            BiConsumer<ChannelOption<Integer>, Integer> setter) {
        if (value != null && value != 0) {
            setter.accept(option, value);
        }
    }
}
