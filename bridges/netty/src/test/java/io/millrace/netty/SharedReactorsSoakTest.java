package io.millrace.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Reactors;
import io.millrace.server.TcpServer;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** HTTP on Netty and a {@code TcpServer} on the same two reactors, under load from both sides. */
@EnabledOnOs(OS.LINUX)
class SharedReactorsSoakTest {
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final int CLIENTS = 16;
    private static final int EXCHANGES_OF_A_CONNECTION = 50;
    private static final byte[] BODY = "body".repeat(500).getBytes(StandardCharsets.US_ASCII);
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** With {@code -Psoak}, what an hour brings at a thousand exchanges a second. */
    private static final int EXCHANGES = Boolean.getBoolean("millrace.soak") ? 3_600_000 : 20_000;

    @Test
    @DisplayName(
            "nty-2, nty-5: Netty's HTTP and a TcpServer on the same reactors, both under load: nothing leaks, nobody starves")
    void nothingLeaksNobodyStarves() throws Exception {
        Leaks.watch();
        serve(CLIENTS); // the JDK keeps a descriptor or two once it has had a socket
        long descriptorsBefore = descriptors();
        serve(EXCHANGES);
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(descriptors()).isEqualTo(descriptorsBefore));
        Leaks.assertNone();
    }

    private static void serve(int exchanges) throws Exception {
        try (Reactors reactors =
                Reactors.builder().reactors(2).name("shared").withoutWatchdog().open()) {
            IoEventLoopGroup group = Millrace.groupOn(reactors);
            Channel http = serveHttp(group);
            TcpServer echo = TcpServer.builder()
                    .manager(reactors)
                    .address(ANY_PORT)
                    .start((connection, data) -> connection.send(data));
            Tally asked = new Tally();
            Tally echoed = new Tally();
            int httpPort = ((InetSocketAddress) http.localAddress()).getPort();
            int echoPort = echo.address().getPort();
            run(
                    exchanges,
                    List.of(
                            new Load(httpPort, request(), response().length, asked),
                            new Load(echoPort, BODY, BODY.length, echoed)));
            assertThat(asked.count.get()).isGreaterThanOrEqualTo(exchanges / 2);
            assertThat(echoed.count.get()).isGreaterThanOrEqualTo(exchanges / 2);
            assertThat(asked.slowest()).as("slowest answer over HTTP").isLessThan(PATIENCE);
            assertThat(echoed.slowest()).as("slowest echo").isLessThan(PATIENCE);

            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(reactors.dump()).doesNotContain("MillraceSocketChannel"));
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(echo.connections()).isEmpty());
            echo.close();
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    private static Channel serveHttp(IoEventLoopGroup group) throws InterruptedException {
        Answer answer = new Answer();
        return new ServerBootstrap()
                .group(group)
                .channel(MillraceServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(65_536), answer);
                    }
                })
                .bind(ANY_PORT)
                .sync()
                .channel();
    }

    @Sharable
    private static final class Answer extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            DefaultFullHttpResponse response = new DefaultFullHttpResponse(
                    HttpVersion.HTTP_1_1,
                    HttpResponseStatus.OK,
                    context.alloc().directBuffer().writeBytes(request.content()));
            response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, BODY.length);
            context.writeAndFlush(response);
        }
    }

    private static byte[] request() {
        return message("POST / HTTP/1.1\r\nHost: test\r\n");
    }

    private static byte[] response() {
        return message("HTTP/1.1 200 OK\r\n");
    }

    private static byte[] message(String beginning) {
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        message.writeBytes(
                (beginning + "content-length: " + BODY.length + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
        message.writeBytes(BODY);
        return message.toByteArray();
    }

    /** What the clients of one server have done. */
    private static final class Tally {
        private final AtomicLong count = new AtomicLong();
        private final AtomicLong slowestNanos = new AtomicLong();

        void add(long nanos) {
            count.incrementAndGet();
            slowestNanos.accumulateAndGet(nanos, Math::max);
        }

        Duration slowest() {
            return Duration.ofNanos(slowestNanos.get());
        }
    }

    /** Connects, exchanges, and leaves, again and again. */
    private record Load(int port, byte[] message, int answerBytes, Tally tally) {
        void run(int exchanges) throws IOException {
            for (int done = 0; done < exchanges; ) {
                try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                    socket.setTcpNoDelay(true);
                    socket.setSoTimeout(30_000);
                    InputStream in = socket.getInputStream();
                    for (int i = 0; i < EXCHANGES_OF_A_CONNECTION && done < exchanges; i++, done++) {
                        long began = System.nanoTime();
                        socket.getOutputStream().write(message);
                        byte[] answer = in.readNBytes(answerBytes);
                        tally.add(System.nanoTime() - began);
                        assertThat(answer).hasSize(answerBytes).endsWith(BODY);
                    }
                }
            }
        }
    }

    private static void run(int exchanges, List<Load> loads) throws Exception {
        List<Future<?>> clients = new ArrayList<>();
        // Not virtual threads: sockets on those leave the JDK with descriptors of its own.
        try (ExecutorService threads = Executors.newFixedThreadPool(loads.size() * CLIENTS)) {
            int each = Math.ceilDiv(exchanges / 2, CLIENTS);
            for (int i = 0; i < CLIENTS; i++) {
                for (Load load : loads) {
                    clients.add(threads.submit(() -> {
                        load.run(each);
                        return null;
                    }));
                }
            }
            for (Future<?> client : clients) {
                client.get();
            }
        }
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        }
    }
}
