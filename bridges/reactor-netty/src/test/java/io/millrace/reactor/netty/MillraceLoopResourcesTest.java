package io.millrace.reactor.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.Reactors;
import io.millrace.netty.MillraceServerSocketChannel;
import io.millrace.netty.MillraceSocketChannel;
import io.millrace.server.TcpServer;
import io.netty.channel.socket.DatagramPacket;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.tcp.TcpClient;
import reactor.netty.udp.UdpClient;
import reactor.netty.udp.UdpServer;

/** Reactor Netty's servers and clients on our loops. */
class MillraceLoopResourcesTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final String LOOPBACK = "127.0.0.1";

    @TempDir
    Path folder;

    /** Where the loops run. */
    enum Where {
        OWN_THREADS,
        REACTORS;

        Opened open() {
            if (this == OWN_THREADS) {
                return new Opened(MillraceLoopResources.create("reactor-test", 2, true), null);
            }
            Reactors reactors =
                    Reactors.builder().reactors(2).name("reactor-test").open();
            return new Opened(MillraceLoopResources.on(reactors), reactors);
        }
    }

    /** Loops and, if they run on them, their reactors. */
    record Opened(MillraceLoopResources loops, @Nullable Reactors reactors) implements AutoCloseable {
        @Override
        public void close() {
            loops.disposeLater(Duration.ZERO, LIMIT).block(LIMIT);
            if (reactors != null) {
                assertThat(reactors.shutdown(LIMIT)).isEmpty();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-4: a TCP server and its clients exchange megabytes over many connections")
    void tcp(Where where) {
        byte[] block = new byte[100_000];
        Arrays.fill(block, (byte) 'r');
        try (Opened opened = where.open()) {
            DisposableServer server = reactor.netty.tcp.TcpServer.create()
                    .runOn(opened.loops())
                    .host(LOOPBACK)
                    .port(0)
                    .handle((in, out) -> out.send(in.receive().retain()))
                    .bindNow(LIMIT);
            TcpClient client =
                    TcpClient.create().runOn(opened.loops()).host(LOOPBACK).port(server.port());
            List<Integer> echoed = Flux.range(0, 50)
                    .flatMap(i -> client.connect().flatMap(connection -> send(connection, block)), 50)
                    .collectList()
                    .block(LIMIT);
            assertThat(echoed).hasSize(50).containsOnly(block.length);
            server.disposeNow(LIMIT);
        }
    }

    /** Sends a block, and returns how many bytes came back. */
    private static Mono<Integer> send(Connection connection, byte[] block) {
        assertThat(connection.channel()).isInstanceOf(MillraceSocketChannel.class);
        Mono<Integer> received = connection
                .inbound()
                .receive()
                .asByteArray()
                .scan(0, (sum, piece) -> sum + piece.length)
                .filter(sum -> sum >= block.length)
                .next();
        return connection
                .outbound()
                .sendByteArray(Mono.just(block))
                .then()
                .then(received)
                .doFinally(end -> connection.dispose());
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-4: an HTTP server and client: bodies, chunks, a file, a web socket, HTTP/1.1 and HTTP/2")
    void http(Where where) throws Exception {
        byte[] content = new byte[1_000_000];
        Arrays.fill(content, (byte) 'f');
        Path file = Files.write(folder.resolve("file"), content);
        try (Opened opened = where.open()) {
            DisposableServer server = HttpServer.create()
                    .runOn(opened.loops())
                    .host(LOOPBACK)
                    .port(0)
                    .protocol(HttpProtocol.HTTP11, HttpProtocol.H2C)
                    .route(routes -> routes.get(
                                    "/hello", (request, response) -> response.sendString(Mono.just("hello")))
                            .get(
                                    "/chunks",
                                    (request, response) -> response.sendString(
                                            Flux.range(0, 1000).map(i -> i + "\n")))
                            .get("/file", (request, response) -> response.sendFile(file))
                            .post(
                                    "/echo",
                                    (request, response) ->
                                            response.send(request.receive().retain()))
                            .ws(
                                    "/socket",
                                    (in, out) -> out.sendString(in.receive().asString())))
                    .bindNow(LIMIT);
            for (HttpProtocol protocol : List.of(HttpProtocol.HTTP11, HttpProtocol.H2C)) {
                HttpClient client = HttpClient.create()
                        .runOn(opened.loops())
                        .host(LOOPBACK)
                        .port(server.port())
                        .protocol(protocol);
                assertThat(get(client, "/hello")).isEqualTo("hello");
                assertThat(get(client, "/chunks")).hasLineCount(1000).startsWith("0\n1\n");
                assertThat(get(client, "/file")).isEqualTo(new String(content, StandardCharsets.US_ASCII));
                assertThat(client.post()
                                .uri("/echo")
                                .send(Mono.fromSupplier(() -> io.netty.buffer.Unpooled.wrappedBuffer(content)))
                                .responseContent()
                                .aggregate()
                                .asByteArray()
                                .block(LIMIT))
                        .isEqualTo(content);
            }
            assertThat(HttpClient.create()
                            .runOn(opened.loops())
                            .host(LOOPBACK)
                            .port(server.port())
                            .websocket()
                            .uri("/socket")
                            .handle((in, out) -> out.sendString(Flux.just("one", "two"))
                                    .then()
                                    .thenMany(in.receive().asString().take(2)))
                            .collectList()
                            .block(LIMIT))
                    .containsExactly("one", "two");
            server.disposeNow(LIMIT);
        }
    }

    private static @Nullable String get(HttpClient client, String path) {
        return client.get().uri(path).responseContent().aggregate().asString().block(LIMIT);
    }

    /** What docs/bridges/reactor-netty.md and the module's Javadoc show. */
    @Test
    @DisplayName("nty-4: a server and a client, one line for each")
    void oneLineForEach() {
        try (Reactors reactors = Reactors.builder().reactors(1).open()) {
            MillraceLoopResources loops = MillraceLoopResources.on(reactors);
            DisposableServer server = HttpServer.create()
                    .runOn(loops)
                    .host("127.0.0.1")
                    .handle((request, response) -> response.sendString(Mono.just("hello")))
                    .bindNow();
            HttpClient client = HttpClient.create().runOn(loops).port(server.port());
            assertThat(get(client.host(LOOPBACK), "/")).isEqualTo("hello");
            loops.disposeLater(Duration.ZERO, LIMIT).block(LIMIT);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-4: a UDP server answers datagrams")
    void udp(Where where) {
        try (Opened opened = where.open()) {
            Connection server = UdpServer.create()
                    .runOn(opened.loops())
                    .host(LOOPBACK)
                    .port(0)
                    .handle((in, out) -> out.sendObject(in.receiveObject()
                            .cast(DatagramPacket.class)
                            .map(packet -> new DatagramPacket(packet.content().retain(), packet.sender()))))
                    .bindNow(LIMIT);
            int port = ((InetSocketAddress) server.channel().localAddress()).getPort();
            Connection client = UdpClient.create()
                    .runOn(opened.loops())
                    .host(LOOPBACK)
                    .port(port)
                    .connectNow(LIMIT);
            Sinks.One<String> answer = Sinks.one();
            client.inbound().receive().asString().subscribe(answer::tryEmitValue);
            client.outbound().sendString(Mono.just("a packet")).then().subscribe();
            assertThat(answer.asMono().block(LIMIT)).isEqualTo("a packet");
            client.disposeNow(LIMIT);
            server.disposeNow(LIMIT);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-4: a request that a server makes for a request goes out on the loop that it came in on")
    void clientsStayOnTheirLoop(Where where) {
        Set<String> hops = ConcurrentHashMap.newKeySet();
        try (Opened opened = where.open()) {
            HttpClient client = HttpClient.newConnection().runOn(opened.loops()).host(LOOPBACK);
            DisposableServer backend = HttpServer.create()
                    .runOn(opened.loops())
                    .host(LOOPBACK)
                    .port(0)
                    .handle((request, response) -> response.sendString(Mono.just("from behind")))
                    .bindNow(LIMIT);
            DisposableServer front = HttpServer.create()
                    .runOn(opened.loops())
                    .host(LOOPBACK)
                    .port(0)
                    .handle((request, response) -> {
                        String in = Thread.currentThread().getName();
                        return response.sendString(client.port(backend.port())
                                .get()
                                .uri("/")
                                .responseContent()
                                .aggregate()
                                .asString()
                                .doOnNext(body -> hops.add(
                                        Thread.currentThread().getName().equals(in) ? "same" : "another")));
                    })
                    .bindNow(LIMIT);
            List<String> bodies = IntStream.range(0, 20)
                    .mapToObj(i -> get(HttpClient.newConnection().host(LOOPBACK).port(front.port()), "/"))
                    .toList();
            assertThat(bodies).hasSize(20).containsOnly("from behind");
            assertThat(hops).containsExactly("same");
            front.disposeNow(LIMIT);
            backend.disposeNow(LIMIT);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-4: Reactor refuses to block a loop's thread, and says so")
    void blockingIsRefused(Where where) {
        try (Opened opened = where.open()) {
            Throwable refusal = Mono.<Throwable>create(sink -> opened.loops()
                            .onServer(true)
                            .execute(() -> {
                                try {
                                    Mono.never().block();
                                } catch (IllegalStateException e) {
                                    sink.success(e);
                                }
                            }))
                    .block(LIMIT);
            assertThat(refusal).hasMessageContaining("not supported in thread reactor-test");
        }
    }

    @Test
    @DisplayName(
            "nty-4: on a reactor, HTTP and a TcpServer answer on one thread; disposing of the loops leaves it running")
    void oneThreadForBoth() throws Exception {
        Set<String> threads = ConcurrentHashMap.newKeySet();
        try (Reactors reactors = Reactors.builder().reactors(1).name("both").open();
                TcpServer ours = TcpServer.builder()
                        .manager(reactors)
                        .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                        .start((connection, data) -> {
                            threads.add(Thread.currentThread().getName());
                            connection.send(data);
                        })) {
            MillraceLoopResources loops = MillraceLoopResources.on(reactors);
            DisposableServer server = HttpServer.create()
                    .runOn(loops)
                    .host(LOOPBACK)
                    .port(0)
                    .handle((request, response) -> {
                        threads.add(Thread.currentThread().getName());
                        return response.sendString(Mono.just("http"));
                    })
                    .bindNow(LIMIT);
            assertThat(server.channel()).isInstanceOf(MillraceServerSocketChannel.class);
            assertThat(get(HttpClient.newConnection().host(LOOPBACK).port(server.port()), "/"))
                    .isEqualTo("http");
            assertThat(ask(ours.address().getPort(), "ours")).isEqualTo("ours");
            assertThat(threads).containsExactly("both-0");
            assertThat(reactors.dump()).contains("MillraceServerSocketChannel");

            loops.disposeLater(Duration.ZERO, LIMIT).block(LIMIT);
            assertThat(loops.isDisposed()).isTrue();
            assertThat(server.channel().isOpen()).isFalse();
            assertThat(ask(ours.address().getPort(), "still ours")).isEqualTo("still ours");
        }
    }

    private static String ask(int port, String word) throws Exception {
        try (Socket socket = new Socket(LOOPBACK, port)) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readNBytes(word.length()), StandardCharsets.US_ASCII);
        }
    }

    @Test
    @DisplayName("nty-4: a type of channel that there is not is refused with the remedy")
    void otherChannels() {
        MillraceLoopResources loops = MillraceLoopResources.create("unused", 1, true);
        try {
            assertThatThrownBy(() -> loops.onChannel(NioDomainSocketChannel.class, loops.onServer(true)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("NioDomainSocketChannel")
                    .hasMessageContaining("MillraceDomainSocketChannel");
        } finally {
            loops.dispose();
        }
    }
}
