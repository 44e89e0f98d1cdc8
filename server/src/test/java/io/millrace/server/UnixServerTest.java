package io.millrace.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Reactors;
import io.millrace.net.Net;
import io.millrace.net.UnixAddress;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("srv-14: servers and clients at Unix sockets")
@Timeout(60)
class UnixServerTest {
    @TempDir
    private Path directory;

    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable one : opened.reversed()) {
            one.close();
        }
    }

    private <T extends AutoCloseable> T keep(T one) {
        opened.add(one);
        return one;
    }

    private Path path() {
        return directory.resolve("s");
    }

    private UnixAddress address() {
        return UnixAddress.of(path());
    }

    private TcpServer.Builder server(String backend) {
        return TcpServer.builder()
                .reactors(Reactors.builder().reactors(2).backend(backend).withoutWatchdog())
                .address(address());
    }

    private SocketChannel connect() throws IOException {
        return keep(SocketChannel.open(UnixDomainSocketAddress.of(path())));
    }

    private static String read(SocketChannel from, int count) throws IOException {
        ByteBuffer into = ByteBuffer.allocate(count);
        while (into.hasRemaining() && from.read(into) >= 0) {
            // until it is full, or the end
        }
        return US_ASCII.decode(into.flip()).toString();
    }

    private static void send(SocketChannel to, String text) throws IOException {
        to.write(ByteBuffer.wrap(text.getBytes(US_ASCII)));
    }

    /** A file whose listener is gone, as after a kill. */
    private void leaveStale() throws IOException {
        ServerSocketChannel.open(java.net.StandardProtocolFamily.UNIX)
                .bind(UnixDomainSocketAddress.of(path()))
                .close();
        assertThat(path()).exists();
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    @DisplayName("srv-14: it serves at a path, and the file goes with it")
    void serves(String backend) throws Exception {
        TcpServer server = keep(server(backend).start((connection, data) -> connection.send(data)));
        SocketChannel peer = connect();
        send(peer, "hello");
        assertThat(read(peer, 5)).isEqualTo("hello");
        assertThat(server.unixAddress()).isEqualTo(address());
        assertThat(server.toString()).contains("unix:" + path());
        server.close();
        assertThat(path()).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    @DisplayName(
            "srv-14: the file of a server that is gone is replaced; that of one that is there is not, nor another's")
    void staleFiles(String backend) throws Exception {
        leaveStale();
        TcpServer first = keep(server(backend).start((connection, data) -> connection.send(data)));
        assertThatThrownBy(() -> server(backend).start((connection, data) -> {}))
                .isInstanceOf(BindException.class)
                .hasMessageContaining("a server is listening there already");
        SocketChannel peer = connect();
        send(peer, "x");
        assertThat(read(peer, 1)).as("the first one serves on").isEqualTo("x");
        first.close();
        Files.writeString(path(), "precious");
        assertThatThrownBy(() -> server(backend).start((connection, data) -> {}))
                .isInstanceOf(BindException.class);
        assertThat(path()).hasContent("precious");
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    @DisplayName("srv-14: a link to a stale socket is not followed to remove what it leads to")
    void staleLink(String backend) throws Exception {
        leaveStale();
        Path real = directory.resolve("real");
        Files.move(path(), real);
        Files.createSymbolicLink(path(), real);
        assertThatThrownBy(() -> server(backend).start((connection, data) -> {}))
                .isInstanceOf(BindException.class);
        assertThat(real).exists();
        assertThat(path()).isSymbolicLink();
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    @DisplayName("srv-14: a file that has replaced the server's stays when the server ends")
    void replacedFile(String backend) throws Exception {
        TcpServer server = keep(server(backend).start((connection, data) -> {}));
        Files.delete(path());
        Files.writeString(path(), "another's");
        server.close();
        assertThat(path()).hasContent("another's");
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    @DisplayName("srv-14: the file has the permissions that were asked for, whatever the umask")
    void permissions(String backend) throws Exception {
        for (String wanted : List.of("rw-rw-rw-", "rw-------", "rwxr-x---")) {
            try (TcpServer server = server(backend)
                    .socketPermissions(PosixFilePermissions.fromString(wanted))
                    .start((connection, data) -> {})) {
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path())))
                        .as("of %s", server)
                        .isEqualTo(wanted);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    @DisplayName("srv-14: a start that fails after the bind leaves no file")
    void failedStart(String backend) throws Exception {
        Reactors ended = Reactors.builder().reactors(1).backend(backend).open();
        ended.close();
        assertThatThrownBy(() ->
                        TcpServer.builder().manager(ended).address(address()).start((connection, data) -> {}))
                .isInstanceOf(RuntimeException.class);
        assertThat(path()).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    @DisplayName("srv-14: limits for an address do not apply, the limit of all does, and connections are on all loops")
    void limits(String backend) throws Exception {
        LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();
        TcpServer server = keep(server(backend)
                .maxConnectionsPerAddress(1)
                .maxConnections(3)
                .start(new ConnectionHandler() {
                    @Override
                    public void onConnect(Connection connection) {
                        log.add(Thread.currentThread().getName());
                    }

                    @Override
                    public void onData(Connection connection, ByteBuffer data) {}

                    @Override
                    public void onError(@Nullable Connection connection, Throwable failure) {
                        log.add(connection + " " + failure.getMessage());
                    }
                }));
        List<String> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            connect();
            threads.add(log.poll(10, TimeUnit.SECONDS));
        }
        assertThat(threads).doesNotContainNull().hasSize(3);
        assertThat(threads.stream().distinct()).as("one after the other").hasSize(2);
        connect();
        assertThat(log.poll(10, TimeUnit.SECONDS)).startsWith("null turned a connection away: 3 are open");
        assertThat(server.context().connections()).hasSize(3);
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    @DisplayName("srv-14: both ends know the path; the address that stands in for it is unresolved")
    void addresses(String backend) throws Exception {
        CompletableFuture<Connection> accepted = new CompletableFuture<>();
        keep(server(backend).sendBuffer(4096).start(new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) {
                accepted.complete(connection);
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {}
        }));
        TcpClient client = keep(TcpClient.open());
        Connection here = client.connect(address(), (connection, data) -> {}).get(10, TimeUnit.SECONDS);
        Connection there = accepted.get(10, TimeUnit.SECONDS);
        for (Connection each : List.of(here, there)) {
            assertThat(each.unixAddress()).isEqualTo(address());
            assertThat(each.remoteAddress().isUnresolved()).isTrue();
            assertThat(each.remoteAddress().getHostString()).isEqualTo("unix:" + path());
            assertThat(each.remoteAddress().getPort()).isZero();
            assertThat(each.localAddress()).isEqualTo(each.remoteAddress());
            assertThat(each.toString()).contains("unix:" + path());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    @DisplayName(
            "srv-14, srv-13: a client that finds nobody is told at once, and one that keeps its connection comes back")
    void clients(String backend) throws Exception {
        TcpClient client = keep(TcpClient.builder()
                .manager(keep(Reactors.builder().reactors(1).backend(backend).open()))
                .open());
        assertThatThrownBy(() ->
                        client.connect(address(), (connection, data) -> {}).get(10, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOf(ConnectException.class)
                .hasMessageContaining(path().toString());
        LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();
        try (KeptConnection kept = client.keepConnected(
                address(),
                new ConnectionHandler() {
                    @Override
                    public void onConnect(Connection connection) {
                        log.add("connect");
                    }

                    @Override
                    public void onData(Connection connection, ByteBuffer data) {}

                    @Override
                    public void onError(@Nullable Connection connection, Throwable failure) {
                        log.add("error");
                    }
                },
                Reconnect.backoff(Duration.ofMillis(5), Duration.ofMillis(5)))) {
            assertThat(log.poll(10, TimeUnit.SECONDS)).isEqualTo("error");
            TcpServer server = keep(server(backend).start((connection, data) -> {}));
            await().until(() -> kept.state() == KeptConnection.State.CONNECTED);
            assertThat(server.connectionsOpened()).isEqualTo(1);
            assertThat(kept.toString()).contains("unix:" + path());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    @DisplayName("srv-14, srv-8: a relay joins a Unix socket and TCP, both ways, with half closes")
    void relays(String backend) throws Exception {
        Reactors reactors = keep(Reactors.builder()
                .reactors(2)
                .backend(backend)
                .withoutWatchdog()
                .open());
        TcpServer behind = keep(TcpServer.builder().manager(reactors).start(new ConnectionHandler() {
            @Override
            public void onData(Connection connection, ByteBuffer data) {
                connection.send(data);
            }
        }));
        TcpClient client = keep(TcpClient.builder().manager(reactors).open());
        keep(TcpServer.builder().manager(reactors).address(address()).start(Relay.proxy(client, behind.address())));
        TcpServer front = keep(TcpServer.builder().manager(reactors).start(Relay.proxy(client, address())));
        byte[] sent = new byte[5 << 20];
        new Random(3).nextBytes(sent);
        try (SocketChannel channel = SocketChannel.open(front.address())) {
            CompletableFuture<byte[]> got = new CompletableFuture<>();
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    got.complete(Channels.newInputStream(channel).readAllBytes());
                } catch (Throwable e) {
                    got.completeExceptionally(e);
                }
            });
            ByteBuffer rest = ByteBuffer.wrap(sent);
            while (rest.hasRemaining()) {
                channel.write(rest);
            }
            channel.shutdownOutput();
            assertThat(got.get(30, TimeUnit.SECONDS)).isEqualTo(sent);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    @DisplayName("srv-14, vt-1: the direct style is the same at a Unix socket")
    void direct(String backend) throws Exception {
        keep(DirectServer.start(server(backend), socket -> {
            for (String line = socket.readLine(100); line != null; line = socket.readLine(100)) {
                socket.write(line + " at " + socket.unixAddress() + "\n");
            }
        }));
        try (DirectClient client = DirectClient.open();
                DirectSocket socket = client.connect(address())) {
            socket.write("here\n");
            assertThat(socket.readLine(1000)).isEqualTo("here at " + path());
        }
        assertThatThrownBy(() -> keep(DirectClient.open()).connect(UnixAddress.of(directory.resolve("none"))))
                .isInstanceOf(ConnectException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"abstract"})
    @DisplayName("srv-14: an abstract name needs no file")
    void abstractNames(String name) throws Exception {
        UnixAddress address =
                UnixAddress.ofAbstract("millrace-" + ProcessHandle.current().pid() + name);
        keep(TcpServer.builder()
                .reactors(Reactors.builder().reactors(1).backend("epoll"))
                .address(address)
                .start((connection, data) -> connection.send(data)));
        try (var stream = Net.natively().connect(address)) {
            assertThat(stream.isConnected()).isTrue();
        }
    }
}
