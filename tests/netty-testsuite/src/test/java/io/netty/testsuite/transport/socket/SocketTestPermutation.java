package io.netty.testsuite.transport.socket;

import io.millrace.netty.MillraceDatagramChannel;
import io.millrace.netty.MillraceServerSocketChannel;
import io.millrace.netty.MillraceSocketChannel;
import io.millrace.netty.testsuite.Loops;
import io.netty.bootstrap.AbstractBootstrap;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ReflectiveChannelFactory;
import io.netty.channel.socket.SocketProtocolFamily;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import java.util.List;

/**
 * Stands in for Netty's class of this name, which is behind it on the class path: each of Netty's tests asks it for the
 * bootstraps to run with, and gets Millrace's loops and channels. So the tests are Netty's, byte for byte.
 *
 * <p>With {@code -Dmillrace.netty.loops=nio} they get Netty's own NIO transport, for comparison.
 */
public final class SocketTestPermutation {
    static final String BAD_HOST = "198.51.100.254";
    static final int BAD_PORT = 65535;

    /** See /etc/services. */
    public static final int UNASSIGNED_PORT = 4;

    static final SocketTestPermutation INSTANCE = new SocketTestPermutation();

    private final EventLoopGroup group = Loops.SELECTED.group(4);
    private final boolean nio = Loops.SELECTED == Loops.NIO;

    private SocketTestPermutation() {}

    public static SocketTestPermutation instance() {
        return INSTANCE;
    }

    public List<BootstrapFactory<ServerBootstrap>> serverSocket() {
        return List.of(this::newServer);
    }

    public List<BootstrapFactory<Bootstrap>> clientSocket() {
        return List.of(this::newClient);
    }

    public List<BootstrapFactory<Bootstrap>> datagramSocket() {
        return List.of(() -> newDatagram(null));
    }

    public List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> socket() {
        return List.of(new Combo<>(this::newServer, this::newClient));
    }

    public List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> socketWithFastOpen() {
        return socket();
    }

    public List<BootstrapComboFactory<Bootstrap, Bootstrap>> datagram(SocketProtocolFamily family) {
        return List.of(new Combo<>(() -> newDatagram(family), () -> newDatagram(family)));
    }

    private ServerBootstrap newServer() {
        return new ServerBootstrap()
                .group(group)
                .channel(nio ? NioServerSocketChannel.class : MillraceServerSocketChannel.class);
    }

    private Bootstrap newClient() {
        return new Bootstrap().group(group).channel(nio ? NioSocketChannel.class : MillraceSocketChannel.class);
    }

    private Bootstrap newDatagram(SocketProtocolFamily family) {
        Bootstrap bootstrap = new Bootstrap().group(group);
        if (nio) {
            return family == null
                    ? bootstrap.channelFactory(new ReflectiveChannelFactory<>(NioDatagramChannel.class))
                    : bootstrap.channelFactory(() -> new NioDatagramChannel(family));
        }
        return bootstrap.channelFactory(() -> new MillraceDatagramChannel(family));
    }

    private record Combo<A extends AbstractBootstrap<?, ?>, B extends AbstractBootstrap<?, ?>>(
            BootstrapFactory<A> server, BootstrapFactory<B> client) implements BootstrapComboFactory<A, B> {
        @Override
        public A newServerInstance() {
            return server.newInstance();
        }

        @Override
        public B newClientInstance() {
            return client.newInstance();
        }
    }
}
