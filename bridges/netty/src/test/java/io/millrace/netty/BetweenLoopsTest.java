package io.millrace.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.concurrent.EventExecutor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Channels that leave one loop for another. */
class BetweenLoopsTest {
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    @TempDir
    Path directory;

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-1: what is written between two loops is sent, and the output stays open")
    void writing(Loops loops) throws Exception {
        try (Loops.Opened opened = loops.open()) {
            Received received = new Received();
            Channel client = connect(opened, received);
            client.deregister().sync();
            assertThat(client.writeAndFlush(text("between")).await(10, TimeUnit.SECONDS))
                    .isTrue();
            next(opened, client).register(client).sync();
            client.writeAndFlush(text(" and after")).sync();
            await().until(() -> received.text().equals("between and after"));
            assertThat(((DuplexChannel) client).isOutputShutdown()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-1: a flush that is in progress when its channel changes loops goes on by the new one")
    void flushing(Loops loops) throws Exception {
        byte[] piece = "0123456789".getBytes(StandardCharsets.US_ASCII);
        Path file = Files.write(directory.resolve("piece"), piece);
        try (Loops.Opened opened = loops.open()) {
            Received received = new Received();
            Channel client = connect(opened, received);
            client.config().setWriteSpinCount(1); // after each file, others are served
            EventLoop next = next(opened, client);
            int pieces = 50;
            client.eventLoop()
                    .submit(() -> {
                        for (int i = 0; i < pieces; i++) {
                            client.write(new MillraceFileRegion(file, 0, piece.length));
                        }
                        client.flush();
                        return client.deregister().addListener(left -> next.register(client));
                    })
                    .sync();
            await().untilAsserted(() -> assertThat(received.text()).hasSize(pieces * piece.length));
            assertThat(received.text()).isEqualTo("0123456789".repeat(pieces));
            assertThat(client.eventLoop()).isSameAs(next);
        }
    }

    private static EventLoop next(Loops.Opened opened, Channel channel) {
        for (EventExecutor each : opened.group()) {
            if (each != channel.eventLoop()) {
                return (EventLoop) each;
            }
        }
        throw new AssertionError("there is one loop only");
    }

    private static Channel connect(Loops.Opened opened, Received received) throws InterruptedException {
        Channel server = new ServerBootstrap()
                .group(opened.group())
                .channel(MillraceServerSocketChannel.class)
                .childHandler(received)
                .bind(ANY_PORT)
                .sync()
                .channel();
        ChannelFuture client = new Bootstrap()
                .group(opened.group())
                .channel(MillraceSocketChannel.class)
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(new ChannelInboundHandlerAdapter())
                .connect(server.localAddress());
        return client.sync().channel();
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }

    private static final class Received extends SimpleChannelInboundHandler<ByteBuf> {
        private final StringBuffer text = new StringBuffer();

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
            text.append(message.toString(StandardCharsets.US_ASCII));
        }

        String text() {
            return text.toString();
        }
    }
}
