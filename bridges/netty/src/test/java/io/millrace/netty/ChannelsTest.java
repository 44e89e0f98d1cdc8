package io.millrace.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FileRegion;
import io.netty.channel.ServerChannel;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.DatagramPacket;
import io.netty.channel.socket.DuplexChannel;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The channels, on each kind of loop and backend. Netty's own testsuite is in tests/netty-testsuite. */
class ChannelsTest {
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    @TempDir
    Path directory;

    @BeforeAll
    static void watchLeaks() {
        Leaks.watch();
    }

    @AfterAll
    @DisplayName("nty-5: the paranoid leak detector finds nothing")
    static void nothingLeaked() {
        Leaks.assertNone();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-1: bytes of any number and kind of buffers come back from an echo")
    void anEchoReturnsWhatWasSent(Loops loops) throws Exception {
        try (Loops.Opened opened = loops.open()) {
            echoes(opened, MillraceServerSocketChannel.class, MillraceSocketChannel.class, ANY_PORT);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-1: the same over a Unix socket, whose file is gone when the listener is closed")
    void anEchoOverAUnixSocket(Loops loops) throws Exception {
        Path file = directory.resolve("socket");
        try (Loops.Opened opened = loops.open()) {
            echoes(
                    opened,
                    MillraceServerDomainSocketChannel.class,
                    MillraceDomainSocketChannel.class,
                    UnixDomainSocketAddress.of(file));
        }
        assertThat(file).doesNotExist();
    }

    private void echoes(
            Loops.Opened opened,
            Class<? extends ServerChannel> serverType,
            Class<? extends Channel> clientType,
            SocketAddress address)
            throws Exception {
        Channel server = serve(opened.group(), serverType, address, Echo::new);
        Collector received = new Collector();
        Channel client = connect(opened.group(), clientType, server.localAddress(), received);

        byte[] sent = new byte[1 << 20];
        new Random(7).nextBytes(sent);
        int at = 0;
        for (int size = 1; at < sent.length; size = size * 3 + 1) {
            int part = Math.min(size, sent.length - at);
            client.write(bufferOf(client, sent, at, part));
            at += part;
        }
        client.flush();
        await().until(() -> received.size() == sent.length);
        assertThat(received.bytes()).isEqualTo(sent);
        client.close().sync();
        server.close().sync();
    }

    /** Of a different kind each time: pooled, heap, composite, read-only. */
    private static ByteBuf bufferOf(Channel channel, byte[] bytes, int at, int length) {
        return switch (length % 4) {
            case 0 -> channel.alloc().directBuffer(length).writeBytes(bytes, at, length);
            case 1 -> Unpooled.wrappedBuffer(bytes, at, length);
            case 2 -> {
                int half = length / 2;
                yield channel.alloc()
                        .compositeDirectBuffer()
                        .addComponent(true, channel.alloc().directBuffer(half).writeBytes(bytes, at, half))
                        .addComponent(
                                true,
                                channel.alloc()
                                        .directBuffer(length - half)
                                        .writeBytes(bytes, at + half, length - half));
            }
            default ->
                channel.alloc()
                        .directBuffer(length)
                        .writeBytes(bytes, at, length)
                        .asReadOnly();
        };
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-1: with ALLOW_HALF_CLOSURE a peer's end is an event, and the other direction goes on")
    void halfClose(Loops loops) throws Exception {
        try (Loops.Opened opened = loops.open()) {
            List<Object> events = new CopyOnWriteArrayList<>();
            AtomicReference<Channel> accepted = new AtomicReference<>();
            Channel server = new ServerBootstrap()
                    .group(opened.group())
                    .channel(MillraceServerSocketChannel.class)
                    .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                    .childHandler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelActive(ChannelHandlerContext context) {
                            accepted.set(context.channel());
                        }

                        @Override
                        public void userEventTriggered(ChannelHandlerContext context, Object event) {
                            events.add(event);
                        }
                    })
                    .bind(ANY_PORT)
                    .sync()
                    .channel();
            Collector received = new Collector();
            Channel client = connect(opened.group(), MillraceSocketChannel.class, server.localAddress(), received);

            ((DuplexChannel) client).shutdownOutput().sync();
            await().untilAsserted(() -> assertThat(events)
                    .containsExactly(ChannelInputShutdownEvent.INSTANCE, ChannelInputShutdownReadComplete.INSTANCE));
            accepted.get().writeAndFlush(text(accepted.get(), "still here")).sync();
            await().until(() -> received.text().equals("still here"));

            assertThat(accepted.get().isOpen()).isTrue();
            accepted.get().close().sync();
            client.closeFuture().sync();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-1: without auto-read nothing is read until it is asked for")
    void autoReadOff(Loops loops) throws Exception {
        try (Loops.Opened opened = loops.open()) {
            Collector received = new Collector();
            AtomicReference<Channel> accepted = new AtomicReference<>();
            Channel server = new ServerBootstrap()
                    .group(opened.group())
                    .channel(MillraceServerSocketChannel.class)
                    .childOption(ChannelOption.AUTO_READ, false)
                    .childHandler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline().addLast(received);
                            accepted.set(channel);
                        }
                    })
                    .bind(ANY_PORT)
                    .sync()
                    .channel();
            Channel client =
                    connect(opened.group(), MillraceSocketChannel.class, server.localAddress(), new Collector());
            client.writeAndFlush(text(client, "hello")).sync();
            await().until(() -> accepted.get() != null);

            // Two turns of the loop, in which the socket was readable.
            accepted.get().eventLoop().submit(() -> {}).sync();
            accepted.get().eventLoop().submit(() -> {}).sync();
            assertThat(received.text()).isEmpty();
            accepted.get().read();
            await().until(() -> received.text().equals("hello"));

            client.writeAndFlush(text(client, " again")).sync();
            accepted.get().eventLoop().submit(() -> {}).sync();
            accepted.get().eventLoop().submit(() -> {}).sync();
            assertThat(received.text()).as("one read was asked for").isEqualTo("hello");
            accepted.get().config().setAutoRead(true);
            await().until(() -> received.text().equals("hello again"));
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-1: a read that is asked for before the connect waits for it, and is no error")
    void readBeforeConnect(Loops loops) throws Exception {
        try (Loops.Opened opened = loops.open()) {
            Channel server = serve(opened.group(), MillraceServerSocketChannel.class, ANY_PORT, Echo::new);
            Collector received = new Collector();
            Channel client = new Bootstrap()
                    .group(opened.group())
                    .channel(MillraceSocketChannel.class)
                    .option(ChannelOption.AUTO_READ, false)
                    .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                    .handler(received)
                    .register()
                    .sync()
                    .channel();
            client.read();
            // Two turns of the loop, in which the kernel calls the socket readable.
            client.eventLoop().submit(() -> {}).sync();
            client.eventLoop().submit(() -> {}).sync();
            client.connect(server.localAddress()).sync();
            client.writeAndFlush(text(client, "hello")).sync();
            await().until(() -> received.text().equals("hello"));
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-1: a file goes out by sendfile or, if it has no descriptor for us, by copies")
    void fileRegions(Loops loops) throws Exception {
        byte[] content = new byte[3 << 20];
        new Random(8).nextBytes(content);
        Path file = Files.write(directory.resolve("file"), content);
        byte[] part = Arrays.copyOfRange(content, 100, content.length - 50);
        try (Loops.Opened opened = loops.open()) {
            for (int kind = 0; kind < 3; kind++) {
                Collector received = new Collector();
                AtomicReference<Channel> accepted = new AtomicReference<>();
                Channel server = serve(opened.group(), MillraceServerSocketChannel.class, ANY_PORT, () -> {
                    return new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelActive(ChannelHandlerContext context) {
                            accepted.set(context.channel());
                        }
                    };
                });
                Channel client = connect(opened.group(), MillraceSocketChannel.class, server.localAddress(), received);
                await().until(() -> accepted.get() != null);
                FileRegion region = switch (kind) {
                    case 0 -> new MillraceFileRegion(file, 100, part.length);
                    case 1 -> new DefaultFileRegion(file.toFile(), 100, part.length);
                    default -> new DefaultFileRegion(FileChannel.open(file, StandardOpenOption.READ), 100, part.length);
                };
                Channel sender = accepted.get();
                sender.write(text(sender, "<"));
                sender.write(region);
                sender.writeAndFlush(text(sender, ">")).sync();
                await().until(() -> received.size() == part.length + 2);
                byte[] got = received.bytes();
                assertThat(got[0]).isEqualTo((byte) '<');
                assertThat(Arrays.copyOfRange(got, 1, got.length - 1)).isEqualTo(part);
                assertThat(region.transferred()).isEqualTo(part.length);
                assertThat(region.refCnt()).isZero();
                client.close().sync();
                server.close().sync();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-1: a file that is shorter than its region fails the write, and does not hang it")
    void aFileThatIsTooShort(Loops loops) throws Exception {
        Path file = Files.writeString(directory.resolve("short"), "short");
        try (Loops.Opened opened = loops.open()) {
            Channel server = serve(opened.group(), MillraceServerSocketChannel.class, ANY_PORT, Echo::new);
            Channel client =
                    connect(opened.group(), MillraceSocketChannel.class, server.localAddress(), new Collector());
            assertThatThrownBy(() -> client.writeAndFlush(new MillraceFileRegion(file, 0, 100))
                            .sync())
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("ends at 5");
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-1: datagrams keep their bounds and tell their sender; an empty one is one")
    void datagrams(Loops loops) throws Exception {
        try (Loops.Opened opened = loops.open()) {
            BlockingQueue<String> received = new LinkedBlockingQueue<>();
            Channel receiver = new Bootstrap()
                    .group(opened.group())
                    .channel(MillraceDatagramChannel.class)
                    .handler(new SimpleChannelInboundHandler<DatagramPacket>() {
                        @Override
                        protected void channelRead0(ChannelHandlerContext context, DatagramPacket packet) {
                            received.add(packet.content().toString(StandardCharsets.US_ASCII) + " from "
                                    + packet.sender().getPort());
                            context.writeAndFlush(
                                    new DatagramPacket(packet.content().retain(), packet.sender()));
                        }
                    })
                    .bind(ANY_PORT)
                    .sync()
                    .channel();
            BlockingQueue<String> answers = new LinkedBlockingQueue<>();
            Channel sender = new Bootstrap()
                    .group(opened.group())
                    .channel(MillraceDatagramChannel.class)
                    .handler(new SimpleChannelInboundHandler<DatagramPacket>() {
                        @Override
                        protected void channelRead0(ChannelHandlerContext context, DatagramPacket packet) {
                            answers.add(packet.content().toString(StandardCharsets.US_ASCII));
                        }
                    })
                    .connect(receiver.localAddress())
                    .sync()
                    .channel();
            int port = ((InetSocketAddress) sender.localAddress()).getPort();
            sender.write(text(sender, "one"));
            sender.write(Unpooled.EMPTY_BUFFER);
            sender.writeAndFlush(new DatagramPacket(text(sender, "two"), (InetSocketAddress) receiver.localAddress()));
            for (String expected : List.of("one", "", "two")) {
                assertThat(received.poll(10, TimeUnit.SECONDS)).isEqualTo(expected + " from " + port);
                assertThat(answers.poll(10, TimeUnit.SECONDS)).isEqualTo(expected);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-1: a datagram to a closed port is an error of the channel that does not end it")
    void aClosedPort(Loops loops) throws Exception {
        try (Loops.Opened opened = loops.open()) {
            BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
            Channel gone = new Bootstrap()
                    .group(opened.group())
                    .channel(MillraceDatagramChannel.class)
                    .handler(new Collector())
                    .bind(ANY_PORT)
                    .sync()
                    .channel();
            SocketAddress address = gone.localAddress();
            gone.close().sync();
            Channel sender = new Bootstrap()
                    .group(opened.group())
                    .channel(MillraceDatagramChannel.class)
                    .handler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                            failures.add(cause);
                        }
                    })
                    .connect(address)
                    .sync()
                    .channel();
            sender.writeAndFlush(text(sender, "anybody?")).sync();
            assertThat(failures.poll(10, TimeUnit.SECONDS)).isInstanceOf(PortUnreachableException.class);
            assertThat(sender.isOpen()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-1: a refused connection is a ConnectException that names the address")
    void refused(Loops loops) throws Exception {
        try (Loops.Opened opened = loops.open()) {
            Channel server = serve(opened.group(), MillraceServerSocketChannel.class, ANY_PORT, Echo::new);
            SocketAddress address = server.localAddress();
            server.close().sync();
            assertThatThrownBy(() -> connect(opened.group(), MillraceSocketChannel.class, address, new Collector()))
                    .isInstanceOf(ConnectException.class)
                    .hasMessageContaining(address.toString());
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-1: a peer's reset is told in the words by which libraries know it, with the call as its cause")
    void aReset(Loops loops) throws Exception {
        try (Loops.Opened opened = loops.open()) {
            CompletableFuture<Throwable> failure = new CompletableFuture<>();
            Channel server = serve(
                    opened.group(),
                    MillraceServerSocketChannel.class,
                    ANY_PORT,
                    () -> new ChannelInboundHandlerAdapter() {
                        @Override
                        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                            failure.complete(cause);
                        }
                    });
            int port = ((InetSocketAddress) server.localAddress()).getPort();
            try (Socket peer = new Socket(InetAddress.getLoopbackAddress(), port)) {
                peer.setSoLinger(true, 0);
            }
            assertThat(failure.get(10, TimeUnit.SECONDS))
                    .isInstanceOf(SocketException.class)
                    .hasMessage("Connection reset by peer")
                    .hasRootCauseInstanceOf(IOException.class)
                    .rootCause()
                    .hasMessageMatching("recv on fd \\d+ failed: ECONNRESET .*");
            server.close().sync();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-1: options of the socket reach the kernel")
    void options(Loops loops) throws Exception {
        try (Loops.Opened opened = loops.open()) {
            ServerBootstrap bootstrap = new ServerBootstrap()
                    .group(opened.group())
                    .channel(MillraceServerSocketChannel.class)
                    .option(ChannelOption.SO_BACKLOG, 7)
                    .option(MillraceChannelOption.SO_REUSEPORT, true)
                    .childOption(ChannelOption.SO_KEEPALIVE, true)
                    .childOption(MillraceChannelOption.TCP_KEEPIDLE, 123)
                    .childHandler(new Echo());
            Channel first = bootstrap.bind(ANY_PORT).sync().channel();
            Channel second = bootstrap.bind(first.localAddress()).sync().channel();
            assertThat(second.localAddress()).isEqualTo(first.localAddress());

            MillraceSocketChannel client = (MillraceSocketChannel)
                    connect(opened.group(), MillraceSocketChannel.class, first.localAddress(), new Collector());
            assertThat(client.config().isTcpNoDelay()).isTrue();
            client.config().setTcpNoDelay(false).setSoLinger(3).setTrafficClass(0x10);
            assertThat(client.config().isTcpNoDelay()).isFalse();
            assertThat(client.config().getSoLinger()).isEqualTo(3);
            assertThat(client.config().getTrafficClass()).isEqualTo(0x10);
            client.config().setSoLinger(-1);
            assertThat(client.config().setOption(MillraceChannelOption.TCP_KEEPIDLE, 60))
                    .isTrue();
            assertThat(client.config().getOption(MillraceChannelOption.TCP_KEEPIDLE))
                    .isEqualTo(60);
            assertThat(client.config().setOption(ChannelOption.SO_BACKLOG, 1)).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-1: a write that the peer does not read waits, and the water marks tell")
    void waterMarks(Loops loops) throws Exception {
        try (Loops.Opened opened = loops.open()) {
            AtomicReference<Channel> accepted = new AtomicReference<>();
            Collector received = new Collector();
            Channel server = new ServerBootstrap()
                    .group(opened.group())
                    .channel(MillraceServerSocketChannel.class)
                    .childOption(ChannelOption.AUTO_READ, false)
                    .childHandler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline().addLast(received);
                            accepted.set(channel);
                        }
                    })
                    .bind(ANY_PORT)
                    .sync()
                    .channel();
            Channel client =
                    connect(opened.group(), MillraceSocketChannel.class, server.localAddress(), new Collector());
            await().until(() -> accepted.get() != null);
            int pieces = 0;
            while (client.isWritable()) {
                client.writeAndFlush(client.alloc().directBuffer().writeZero(64 << 10));
                client.eventLoop().submit(() -> {}).sync();
                pieces++;
            }
            accepted.get().config().setAutoRead(true);
            int total = pieces * (64 << 10);
            await().until(() -> received.size() == total);
            await().until(client::isWritable);
        }
    }

    // ---- Doubles ----

    private static Channel serve(
            EventLoopGroup group,
            Class<? extends ServerChannel> type,
            SocketAddress address,
            java.util.function.Supplier<ChannelHandler> handler)
            throws InterruptedException {
        return new ServerBootstrap()
                .group(group)
                .channel(type)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(handler.get());
                    }
                })
                .bind(address)
                .sync()
                .channel();
    }

    private static Channel connect(
            EventLoopGroup group, Class<? extends Channel> type, SocketAddress address, ChannelHandler handler)
            throws InterruptedException {
        return new Bootstrap()
                .group(group)
                .channel(type)
                .handler(handler)
                .connect(address)
                .sync()
                .channel();
    }

    private static ByteBuf text(Channel channel, String text) {
        ByteBuf buffer = channel.alloc().buffer();
        buffer.writeCharSequence(text, StandardCharsets.US_ASCII);
        return buffer;
    }

    @ChannelHandler.Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.write(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }
    }

    @ChannelHandler.Sharable
    private static final class Collector extends SimpleChannelInboundHandler<ByteBuf> {
        private final java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();

        @Override
        protected synchronized void channelRead0(ChannelHandlerContext context, ByteBuf message) {
            byte[] part = new byte[message.readableBytes()];
            message.readBytes(part);
            bytes.writeBytes(part);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }

        synchronized int size() {
            return bytes.size();
        }

        synchronized byte[] bytes() {
            return bytes.toByteArray();
        }

        String text() {
            return new String(bytes(), StandardCharsets.US_ASCII);
        }
    }
}
