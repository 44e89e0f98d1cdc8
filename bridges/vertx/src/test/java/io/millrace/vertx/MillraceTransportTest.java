package io.millrace.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Reactors;
import io.millrace.netty.MillraceChannelOption;
import io.millrace.netty.MillraceDomainSocketChannel;
import io.millrace.netty.MillraceSocketChannel;
import io.millrace.server.TcpServer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.datagram.DatagramSocket;
import io.vertx.core.datagram.DatagramSocketOptions;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.internal.net.NetSocketInternal;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.net.NetSocket;
import io.vertx.core.net.SocketAddress;
import io.vertx.core.transport.Transport;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Vert.x on our loops. Its own tests of Net and HTTP are in tests/vertx-testsuite. */
class MillraceTransportTest {
    private static final String LOOPBACK = "127.0.0.1";

    @TempDir
    Path folder;

    @Test
    @DisplayName("nty-4: with the library on the path, a Vertx that names no transport runs on Millrace")
    void isFound() throws Exception {
        assertThat(channelOf(Vertx::vertx)).isInstanceOf(MillraceSocketChannel.class);
        assertThat(channelOf(() -> Vertx.builder().build())).isInstanceOf(MillraceSocketChannel.class);
    }

    @Test
    @DisplayName("nty-4: a native transport that the program names stays; a property keeps NIO the default")
    void isDeclined() throws Exception {
        Transport named = new Named();
        assertThat(channelOf(() -> Vertx.builder().withTransport(named).build()))
                .isExactlyInstanceOf(Named.NamedChannel.class);
        System.setProperty("millrace.vertx.default", "false");
        try {
            assertThat(channelOf(Vertx::vertx)).isInstanceOf(NioSocketChannel.class);
            assertThat(channelOf(() -> Vertx.builder()
                            .withTransport(MillraceTransport.onOwnThreads())
                            .build()))
                    .isInstanceOf(MillraceSocketChannel.class);
        } finally {
            System.clearProperty("millrace.vertx.default");
        }
    }

    @Test
    @DisplayName("nty-4: without a backend with descriptors, Vert.x runs on NIO and tells why")
    void fallsBack() throws Exception {
        System.setProperty("millrace.backend", "nio");
        try {
            Vertx vertx = Vertx.builder()
                    .withTransport(MillraceTransport.onOwnThreads())
                    .build();
            assertThat(vertx.isNativeTransportEnabled()).isFalse();
            assertThat(vertx.unavailableNativeTransportCause())
                    .hasMessageContaining("need a backend with descriptors")
                    .hasMessageContaining("NioIoHandler");
            get(vertx.close());
            assertThat(channelOf(Vertx::vertx)).isInstanceOf(NioSocketChannel.class);
        } finally {
            System.clearProperty("millrace.backend");
        }
    }

    /** The channel of a client's connection. */
    private static Channel channelOf(Supplier<Vertx> factory) throws Exception {
        Vertx vertx = factory.get();
        try {
            NetServer server = get(vertx.createNetServer()
                    .connectHandler(socket -> socket.handler(socket::write))
                    .listen(0, LOOPBACK));
            NetSocket socket = get(vertx.createNetClient().connect(server.actualPort(), LOOPBACK));
            assertThat(echo(socket, "hello")).isEqualTo("hello");
            return ((NetSocketInternal) socket).channelHandlerContext().channel();
        } finally {
            get(vertx.close());
        }
    }

    /** A transport that is not NIO's, though it uses its channels. */
    private static final class Named implements Transport {
        private static final class NamedChannel extends NioSocketChannel {}

        @Override
        public String name() {
            return "named";
        }

        @Override
        public boolean available() {
            return true;
        }

        @Override
        public @Nullable Throwable unavailabilityCause() {
            return null;
        }

        @Override
        public io.vertx.core.spi.transport.Transport implementation() {
            return (io.vertx.core.spi.transport.Transport) Proxy.newProxyInstance(
                    Named.class.getClassLoader(),
                    new Class<?>[] {io.vertx.core.spi.transport.Transport.class},
                    (proxy, method, args) -> method.getName().equals("channelFactory")
                            ? (ChannelFactory<Channel>) NamedChannel::new
                            : method.invoke(Transport.NIO.implementation(), args));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("nty-4: HTTP with a file, Unix sockets and datagrams work on Vert.x's threads and on reactors")
    void everythingIsServed(boolean onReactors) throws Exception {
        try (Reactors reactors = onReactors ? Reactors.builder().reactors(2).open() : null) {
            Vertx vertx = Vertx.builder()
                    .withTransport(onReactors ? MillraceTransport.on(reactors) : MillraceTransport.onOwnThreads())
                    .build();
            try {
                assertThat(vertx.isNativeTransportEnabled()).isTrue();
                serveFile(vertx);
                serveUnix(vertx);
                serveDatagrams(vertx);
            } finally {
                get(vertx.close());
            }
            assertThat(reactors == null || !reactors.isShutdown()).isTrue();
        }
    }

    private void serveFile(Vertx vertx) throws Exception {
        byte[] content = new byte[3_000_000];
        Arrays.fill(content, (byte) 'm');
        Path file = Files.write(folder.resolve("file"), content);
        HttpServer server = get(vertx.createHttpServer()
                .requestHandler(request -> {
                    if (request.path().equals("/file")) {
                        request.response().sendFile(file.toString());
                    } else {
                        request.body()
                                .onSuccess(body -> request.response().end(body))
                                .onFailure(failure -> request.response().reset());
                    }
                })
                .listen(0, LOOPBACK));
        HttpClient client = vertx.createHttpClient();
        Buffer got = get(client.request(HttpMethod.GET, server.actualPort(), LOOPBACK, "/file")
                .compose(request -> request.send())
                .compose(HttpClientResponse::body));
        assertThat(got.getBytes()).isEqualTo(content);
        Buffer echoed = get(client.request(HttpMethod.POST, server.actualPort(), LOOPBACK, "/echo")
                .compose(request -> request.send(Buffer.buffer(content)))
                .compose(HttpClientResponse::body));
        assertThat(echoed.getBytes()).isEqualTo(content);
    }

    private void serveUnix(Vertx vertx) throws Exception {
        SocketAddress address =
                SocketAddress.domainSocketAddress(folder.resolve("socket").toString());
        get(vertx.createNetServer()
                .connectHandler(socket -> socket.handler(socket::write))
                .listen(address));
        NetSocket socket = get(vertx.createNetClient().connect(address));
        assertThat(echo(socket, "over a file")).isEqualTo("over a file");
        assertThat(((NetSocketInternal) socket).channelHandlerContext().channel())
                .isInstanceOf(MillraceDomainSocketChannel.class);
        assertThat(socket.remoteAddress().path()).isEqualTo(address.path());
    }

    private static void serveDatagrams(Vertx vertx) throws Exception {
        DatagramSocket server = get(vertx.createDatagramSocket(new DatagramSocketOptions().setReuseAddress(true))
                .listen(0, LOOPBACK));
        server.handler(packet -> server.send(
                packet.data(), packet.sender().port(), packet.sender().host()));
        DatagramSocket client = get(vertx.createDatagramSocket().listen(0, LOOPBACK));
        CompletableFuture<String> answer = new CompletableFuture<>();
        client.handler(packet -> answer.complete(packet.data().toString()));
        get(client.send("a packet", server.localAddress().port(), LOOPBACK));
        assertThat(answer.get(10, TimeUnit.SECONDS)).isEqualTo("a packet");
    }

    @Test
    @DisplayName(
            "nty-4: options of TCP sockets arrive: reuse-port lets two Vertx share a port, keep-alive has its times")
    void options() throws Exception {
        Vertx one = Vertx.vertx();
        Vertx two = Vertx.vertx();
        try {
            NetServerOptions options = new NetServerOptions().setReusePort(true).setTcpKeepAlive(true);
            options.setTcpKeepAliveIdleSeconds(77);
            CompletableFuture<Channel> accepted = new CompletableFuture<>();
            NetServer first = get(one.createNetServer(options)
                    .connectHandler(socket -> accepted.complete(
                            ((NetSocketInternal) socket).channelHandlerContext().channel()))
                    .listen(0, LOOPBACK));
            NetServer second = get(two.createNetServer(options)
                    .connectHandler(socket -> accepted.complete(
                            ((NetSocketInternal) socket).channelHandlerContext().channel()))
                    .listen(first.actualPort(), LOOPBACK));
            assertThat(second.actualPort()).isEqualTo(first.actualPort());
            try (Socket socket = new Socket(LOOPBACK, first.actualPort())) {
                assertThat(socket.isConnected()).isTrue();
                assertThat(accepted.get(10, TimeUnit.SECONDS).config().getOption(MillraceChannelOption.TCP_KEEPIDLE))
                        .isEqualTo(77);
            }
        } finally {
            get(one.close());
            get(two.close());
        }
    }

    @Test
    @DisplayName(
            "nty-4: Vert.x on a reactor answers on its thread, beside a TcpServer; closing it leaves the reactor running")
    void oneThreadForBoth() throws Exception {
        Set<String> threads = ConcurrentHashMap.newKeySet();
        try (Reactors reactors =
                        Reactors.builder().reactors(1).name("vertx-loops").open();
                TcpServer ours = TcpServer.builder()
                        .manager(reactors)
                        .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                        .start((connection, data) -> {
                            threads.add(Thread.currentThread().getName());
                            connection.send(data);
                        })) {
            Vertx vertx = Vertx.builder()
                    .withTransport(MillraceTransport.on(reactors))
                    .build();
            NetServer server = get(vertx.createNetServer()
                    .connectHandler(socket -> socket.handler(data -> {
                        threads.add(Thread.currentThread().getName());
                        vertx.setTimer(1, id -> {
                            threads.add(Thread.currentThread().getName());
                            socket.write(data);
                        });
                    }))
                    .listen(0, LOOPBACK));
            assertThat(ask(server.actualPort(), "vertx")).isEqualTo("vertx");
            assertThat(ask(ours.address().getPort(), "ours")).isEqualTo("ours");
            assertThat(threads).containsExactly("vertx-loops-0");
            get(vertx.close());
            assertThat(ask(ours.address().getPort(), "still ours")).isEqualTo("still ours");
        }
    }

    private static String echo(NetSocket socket, String word) throws Exception {
        CompletableFuture<String> answer = new CompletableFuture<>();
        socket.handler(data -> answer.complete(data.toString()));
        get(socket.write(word));
        return answer.get(10, TimeUnit.SECONDS);
    }

    private static String ask(int port, String word) throws Exception {
        try (Socket socket = new Socket(LOOPBACK, port)) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readNBytes(word.length()), StandardCharsets.US_ASCII);
        }
    }

    private static <T> T get(Future<T> future) throws Exception {
        return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
    }
}
