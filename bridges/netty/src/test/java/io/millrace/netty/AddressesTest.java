package io.millrace.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultAddressedEnvelope;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.DatagramPacket;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Addresses that change or do not fit, and numbers that cannot be. */
class AddressesTest {
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-1: a datagram channel that disconnects keeps its port, and peers reach it there")
    void disconnecting(Loops loops) throws Exception {
        try (Loops.Opened opened = loops.open()) {
            for (SocketAddress bound : List.of(ANY_PORT, new InetSocketAddress(0))) {
                BlockingQueue<String> received = new LinkedBlockingQueue<>();
                Channel peer = udp(opened, received, ANY_PORT);
                Channel channel = udp(opened, received, bound);
                int port = port(channel);
                channel.connect(peer.localAddress()).sync();
                channel.disconnect().sync();
                assertThat(channel.isActive()).isTrue();
                assertThat(port(channel)).isEqualTo(port);
                assertThat(channel.remoteAddress()).isNull();

                peer.writeAndFlush(new DatagramPacket(text("to the port"), loopback(port)))
                        .sync();
                assertThat(received.poll(10, TimeUnit.SECONDS)).isEqualTo("to the port from " + port(peer));
                channel.writeAndFlush(new DatagramPacket(text("from it"), loopback(port(peer))))
                        .sync();
                assertThat(received.poll(10, TimeUnit.SECONDS)).isEqualTo("from it from " + port);
                channel.close().sync();
                peer.close().sync();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-1: an address of another type, or without a number, is refused as on NIO")
    void addressesThatDoNotFit(Loops loops) throws Exception {
        SocketAddress unix = UnixDomainSocketAddress.of("nowhere");
        SocketAddress unresolved = InetSocketAddress.createUnresolved("nowhere.invalid", 1);
        try (Loops.Opened opened = loops.open()) {
            assertThatThrownBy(() -> tcp(opened).connect(unix).sync())
                    .isInstanceOf(UnsupportedAddressTypeException.class);
            assertThatThrownBy(() -> tcp(opened).connect(unresolved).sync())
                    .isInstanceOf(UnresolvedAddressException.class);
            Channel udp = udp(opened, new LinkedBlockingQueue<>(), ANY_PORT);
            assertThatThrownBy(() -> udp.writeAndFlush(new DefaultAddressedEnvelope<>(text("x"), unix))
                            .sync())
                    .isInstanceOf(UnsupportedAddressTypeException.class);
            Bootstrap empty = new Bootstrap()
                    .group(opened.group())
                    .channel(MillraceDomainSocketChannel.class)
                    .handler(new ChannelInboundHandlerAdapter());
            assertThatThrownBy(() -> empty.bind(UnixDomainSocketAddress.of("")).sync())
                    .isInstanceOf(BindException.class)
                    .hasMessageContaining("EINVAL");
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-1: the size of a buffer that is negative is refused, and changes nothing")
    void negativeSizes(Loops loops) throws Exception {
        try (Loops.Opened opened = loops.open()) {
            Channel channel = udp(opened, new LinkedBlockingQueue<>(), ANY_PORT);
            for (ChannelOption<Integer> option : List.of(ChannelOption.SO_RCVBUF, ChannelOption.SO_SNDBUF)) {
                Integer before = channel.config().getOption(option);
                assertThatThrownBy(() -> channel.config().setOption(option, -1))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("-1");
                assertThat(channel.config().getOption(option)).isEqualTo(before);
            }
        }
    }

    private static Bootstrap tcp(Loops.Opened opened) {
        return new Bootstrap()
                .group(opened.group())
                .channel(MillraceSocketChannel.class)
                .disableResolver()
                .handler(new ChannelInboundHandlerAdapter());
    }

    private static Channel udp(Loops.Opened opened, BlockingQueue<String> received, SocketAddress address)
            throws InterruptedException {
        return new Bootstrap()
                .group(opened.group())
                .channel(MillraceDatagramChannel.class)
                .handler(new SimpleChannelInboundHandler<DatagramPacket>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext context, DatagramPacket packet) {
                        received.add(packet.content().toString(StandardCharsets.US_ASCII) + " from "
                                + packet.sender().getPort());
                    }
                })
                .bind(address)
                .sync()
                .channel();
    }

    private static int port(Channel channel) {
        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    private static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }
}
