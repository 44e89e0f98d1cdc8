package io.millrace.net;

import static io.millrace.net.TcpStreamTest.ascii;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.Interest;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Unix sockets, beside what {@link HalfCloseTest} and its neighbours say of all streams. */
@ParameterizedClass
@EnumSource(Rig.Backend.class)
class UnixListenerTest {
    @TempDir
    Path directory;

    @Parameter
    Rig.Backend backend;

    private Rig rig;

    @BeforeEach
    void open() {
        rig = backend.rig();
    }

    @AfterEach
    void close() {
        if (rig != null) {
            rig.close();
        }
    }

    @Test
    void bothEndsKnowWhereTheyMet() throws Exception {
        UnixListener listener = listener("socket");
        assertThat(listener.accept()).isNull();

        UnixStream client = rig.keep(rig.net.connect(listener.address()));
        assertThat(client.finishConnect()).as("connected at once").isTrue();
        UnixStream server = Streams.accept(rig, listener);

        assertThat(client.isConnected()).isTrue();
        assertThat(client.address()).isEqualTo(server.address()).isEqualTo(listener.address());
        assertThat(client.toString()).contains("UnixStream at " + listener.address());
        assertThat(listener.toString()).contains("UnixListener at " + listener.address());
        rig.writeFully(client, ascii("ping"));
        ByteBuffer into = ByteBuffer.allocate(4);
        rig.readFully(server, into);
        assertThat(into.flip()).isEqualTo(ascii("ping"));
    }

    @Test
    void oneEdgeStandsForSeveralConnections() throws Exception {
        UnixListener listener = listener("socket");
        rig.poll.register(listener, 7, Interest.READABLE, Trigger.EDGE);
        for (int i = 0; i < 3; i++) {
            rig.keep(rig.net.connect(listener.address()));
        }
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        for (int i = 0; i < 3; i++) {
            UnixStream accepted = listener.accept();
            assertThat(accepted).isNotNull();
            rig.keep(accepted);
        }
        assertThat(listener.accept()).isNull();
        assertThat(rig.reports(Duration.ZERO)).isFalse();

        rig.keep(rig.net.connect(listener.address()));

        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
    }

    @Test
    void itsFileGoesWhenItIsClosed() throws Exception {
        UnixListener listener = listener("socket");
        assertThat(directory.resolve("socket")).exists();

        listener.close();
        listener.close();

        assertThat(directory).isEmptyDirectory();
        assertThatThrownBy(listener::accept).isInstanceOf(ClosedChannelException.class);
        listener("socket");
    }

    @Test
    void aFileThatSomebodyPutInItsPlaceStays() throws Exception {
        Path path = directory.resolve("socket");
        UnixListener listener = listener("socket");
        Files.delete(path);
        UnixListener successor = listener("socket");

        listener.close();

        assertThat(path).as("the successor's").exists();
        rig.keep(rig.net.connect(successor.address()));
        Streams.accept(rig, successor);

        Files.delete(path);
        Files.writeString(path, "not a socket");
        successor.close();
        assertThat(path).hasContent("not a socket");
    }

    @Test
    void aFileThatIsGoneAlreadyIsNoFailure() throws Exception {
        UnixListener listener = listener("socket");
        Files.delete(directory.resolve("socket"));

        listener.close();

        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void anAddressInUseSaysSoWithTheRemedyAndLeavesTheFile() throws Exception {
        UnixListener listener = listener("socket");

        assertThatThrownBy(() -> rig.net.listen(listener.address()))
                .isInstanceOf(BindException.class)
                .hasMessageContaining("cannot listen at " + listener.address())
                .hasMessageMatching("(?is).*in use.*")
                .hasMessageContaining("delete it first");
        rig.keep(rig.net.connect(listener.address()));
        Streams.accept(rig, listener);
    }

    @Test
    void aFileLeftBehindRefusesBindAndConnect() throws Exception {
        Path path = directory.resolve("stale");
        ServerSocketChannel killed = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        killed.bind(UnixDomainSocketAddress.of(path));
        killed.close();

        assertThatThrownBy(() -> rig.net.connect(UnixAddress.of(path)))
                .isInstanceOf(ConnectException.class)
                .hasMessageContaining("cannot connect to " + path)
                .hasMessageMatching("(?is).*refused.*")
                .hasMessageContaining("check that a server listens there");
        assertThatThrownBy(() -> rig.net.listen(UnixAddress.of(path))).isInstanceOf(BindException.class);
        assertThat(path).exists();
    }

    @Test
    void aPathWithoutAFileIsSaidSo() {
        UnixAddress nowhere = UnixAddress.of(directory.resolve("nowhere"));
        assertThatThrownBy(() -> rig.net.connect(nowhere))
                .isInstanceOf(ConnectException.class)
                .hasMessageContaining("cannot connect to " + nowhere)
                .hasMessageMatching("(?is).*no such file.*");
        assertThatThrownBy(() -> rig.net.listen(UnixAddress.of(directory.resolve("no/such/directory"))))
                .isInstanceOf(BindException.class)
                .hasMessageMatching("(?is).*no such file.*");
    }

    @Test
    void aPathThatIsTooLongIsSaidSo() {
        UnixAddress longer = UnixAddress.of(directory.resolve("x".repeat(120)));
        assertThatThrownBy(() -> rig.net.listen(longer))
                .isInstanceOf(BindException.class)
                .hasMessageContaining("cannot listen at " + longer)
                .hasMessageMatching("(?is).*too long.*")
                .hasMessageContaining("bytes");
        assertThatThrownBy(() -> rig.net.connect(longer))
                .isInstanceOf(ConnectException.class)
                .hasMessageMatching("(?is).*too long.*");
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void aRelativePathIsTakenAsItIs() throws Exception {
        Path relative = Path.of("").toAbsolutePath().relativize(directory.resolve("relative"));
        UnixListener listener = rig.keep(rig.net.listen(UnixAddress.of(relative)));
        assertThat(directory.resolve("relative")).exists();

        rig.keep(rig.net.connect(UnixAddress.of(directory.resolve("relative"))));

        Streams.accept(rig, listener);
        listener.close();
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void asManyAsTheBacklogAllowsMayWait() throws Exception {
        UnixListener listener = rig.keep(rig.net.listen(UnixAddress.of(directory.resolve("socket")), 2));
        List<UnixStream> waiting = new ArrayList<>();

        assertThatThrownBy(() -> {
                    for (int i = 0; i < 10; i++) {
                        waiting.add(rig.keep(rig.net.connect(listener.address())));
                    }
                })
                .isInstanceOf(ConnectException.class)
                .hasMessageContaining("cannot connect to " + listener.address())
                .hasMessageContaining(backend == Rig.Backend.NIO ? "has room" : "waiting to be accepted");

        assertThat(waiting).hasSize(3);
        Streams.accept(rig, listener);
        rig.keep(rig.net.connect(listener.address()));
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void anAbstractNameNeedsNoFile() throws Exception {
        UnixAddress name =
                UnixAddress.ofAbstract("millrace-" + ProcessHandle.current().pid() + "-" + backend);
        assertThat(name.toString()).startsWith("@millrace-");
        assertThat(name.path()).isNull();
        if (backend == Rig.Backend.NIO) {
            assertThatThrownBy(() -> rig.net.listen(name))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("nio")
                    .hasMessageContaining("native backend");
            assertThatThrownBy(() -> rig.net.connect(name)).isInstanceOf(UnsupportedOperationException.class);
            return;
        }
        UnixListener listener = rig.keep(rig.net.listen(name));
        assertThatThrownBy(() -> rig.net.listen(name)).isInstanceOf(BindException.class);

        UnixStream client = rig.keep(rig.net.connect(name));
        UnixStream server = Streams.accept(rig, listener);

        rig.writeFully(server, ascii("hi"));
        rig.readFully(client, ByteBuffer.allocate(2));
        listener.close();
        assertThatThrownBy(() -> rig.net.connect(name)).isInstanceOf(ConnectException.class);
        assertThatThrownBy(() -> rig.net.listen(UnixAddress.ofAbstract("x".repeat(108))))
                .isInstanceOf(BindException.class)
                .hasMessageMatching("(?is).*too long.*");
    }

    @Test
    void badNamesAreRefused() {
        assertThatThrownBy(() -> UnixAddress.of(Path.of(""))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> UnixAddress.ofAbstract("")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> rig.net.listen(UnixAddress.of(directory.resolve("socket")), 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(UnixAddress.of(Path.of("/a"))).isEqualTo(UnixAddress.of(Path.of("/a")));
        assertThat(UnixAddress.of(Path.of("a"))).isNotEqualTo(UnixAddress.ofAbstract("a"));
    }

    @Test
    void closedByAnyThreadItIsDeregistered() throws Exception {
        UnixListener listener = listener("socket");
        rig.poll.register(listener, 7, Interest.READABLE, Trigger.LEVEL);

        Thread other = Thread.ofPlatform().start(listener::close);
        other.join();

        assertThat(rig.poll.size()).isZero();
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void everyDescriptorAndFileIsGivenBack() throws Exception {
        openAndClose();
        long base = UdpSocketTest.openFiles();

        for (int i = 0; i < 200; i++) {
            openAndClose();
        }

        assertThat(UdpSocketTest.openFiles()).isEqualTo(base);
        assertThat(directory).isEmptyDirectory();
    }

    private void openAndClose() throws IOException {
        UnixListener listener = rig.net.listen(UnixAddress.of(directory.resolve("socket")));
        rig.poll.register(listener, 1, Interest.READABLE, Trigger.EDGE);
        UnixStream client = rig.net.connect(listener.address());
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        UnixStream server = listener.accept();
        assertThat(server).isNotNull();
        server.close();
        assertThatThrownBy(() -> rig.net.listen(listener.address())).isInstanceOf(BindException.class);
        listener.close();
        assertThatThrownBy(() -> rig.net.connect(listener.address())).isInstanceOf(ConnectException.class);
        client.close();
    }

    private UnixListener listener(String name) throws IOException {
        return rig.keep(rig.net.listen(UnixAddress.of(directory.resolve(name))));
    }
}
