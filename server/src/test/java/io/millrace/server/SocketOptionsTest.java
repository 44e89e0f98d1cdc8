package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.Reactors;
import io.millrace.net.ByteStream;
import io.millrace.net.TcpStream;
import io.millrace.net.UnixAddress;
import io.millrace.server.connection.ConnectionProbe;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The sockets of a server and a client")
@Timeout(30)
class SocketOptionsTest {
    private static final class Connected implements ConnectionHandler {
        final CompletableFuture<Connection> connected = new CompletableFuture<>();

        @Override
        public void onConnect(Connection connection) {
            connected.complete(connection);
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {}

        TcpStream stream() throws Exception {
            return ConnectionProbe.stream(connected.get(10, TimeUnit.SECONDS));
        }

        ByteStream socket() throws Exception {
            return ConnectionProbe.socket(connected.get(10, TimeUnit.SECONDS));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @EnabledOnOs(OS.LINUX)
    @DisplayName("srv-15: have the options of their builders, as the system tells them")
    void theOptionsOfTheBuilders(String backend) throws Exception {
        Connected atServer = new Connected();
        Connected atClient = new Connected();
        try (Reactors manager = Reactors.builder().reactors(1).backend(backend).open();
                TcpServer server = TcpServer.builder()
                        .manager(manager)
                        .sendBuffer(40_000)
                        .receiveBuffer(20_000) // unlike the default of any system
                        .trafficClass(0x28)
                        .linger(Duration.ofSeconds(3))
                        .start(atServer);
                TcpClient client = TcpClient.builder()
                        .manager(manager)
                        .sendBuffer(60_000)
                        .receiveBuffer(70_000)
                        .trafficClass(0x48)
                        .linger(Duration.ZERO)
                        .noDelay(false)
                        .keepAlive(null)
                        .open()) {
            client.connect(server.address(), atClient).get(10, TimeUnit.SECONDS);
            TcpStream accepted = atServer.stream();
            assertThat(accepted.sendBuffer()).isBetween(40_000, 80_000);
            assertThat(accepted.receiveBuffer()).isBetween(20_000, 40_000);
            assertThat(accepted.trafficClass()).isEqualTo(0x28);
            assertThat(accepted.linger()).isEqualTo(Duration.ofSeconds(3));
            assertThat(accepted.noDelay()).isTrue();
            assertThat(accepted.keepAlive()).isNotNull();
            TcpStream connected = atClient.stream();
            assertThat(connected.sendBuffer()).isBetween(60_000, 120_000);
            assertThat(connected.receiveBuffer()).isBetween(70_000, 140_000);
            assertThat(connected.trafficClass()).isEqualTo(0x48);
            assertThat(connected.linger()).isEqualTo(Duration.ZERO);
            assertThat(connected.noDelay()).isFalse();
            assertThat(connected.keepAlive()).isNull();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @EnabledOnOs(OS.LINUX)
    @DisplayName("srv-15, srv-14: at a Unix socket, too, both ends have the buffers of their builders")
    void buffersAtUnixSockets(String backend, @TempDir Path directory) throws Exception {
        UnixAddress address = UnixAddress.of(directory.resolve("s"));
        Connected atServer = new Connected();
        Connected atClient = new Connected();
        try (Reactors manager = Reactors.builder().reactors(1).backend(backend).open();
                TcpServer server = TcpServer.builder()
                        .manager(manager)
                        .address(address)
                        .sendBuffer(40_000)
                        .receiveBuffer(20_000)
                        .start(atServer);
                TcpClient client = TcpClient.builder()
                        .manager(manager)
                        .sendBuffer(60_000)
                        .receiveBuffer(70_000)
                        .open()) {
            assertThat(server.isOpen()).isTrue();
            client.connect(address, atClient).get(10, TimeUnit.SECONDS);
            ByteStream accepted = atServer.socket();
            assertThat(accepted.sendBuffer()).isBetween(40_000, 80_000);
            assertThat(accepted.receiveBuffer()).isBetween(20_000, 40_000);
            ByteStream connected = atClient.socket();
            assertThat(connected.sendBuffer()).isBetween(60_000, 120_000);
            assertThat(connected.receiveBuffer()).isBetween(70_000, 140_000);
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    @DisplayName("srv-15: a server takes fast connections on a native backend, and says that NIO has none")
    void fastOpen() throws Exception {
        Connected handler = new Connected();
        try (TcpServer server = TcpServer.builder()
                        .reactors(Reactors.builder().reactors(1).backend("epoll"))
                        .fastOpen(16)
                        .start(handler);
                TcpClient client = TcpClient.open()) {
            client.connect(server.address(), new Connected()).get(10, TimeUnit.SECONDS);
            assertThat(handler.stream().isConnected()).isTrue();
        }
        TcpServer.Builder onNio = TcpServer.builder()
                .reactors(Reactors.builder().reactors(1).backend("nio"))
                .fastOpen(16);
        assertThatThrownBy(() -> onNio.start(handler))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("java.nio has no TCP_FASTOPEN");
    }

    @Test
    @DisplayName("srv-15: are refused values that make no sense, where they are set")
    void badValues() {
        TcpServer.Builder server = TcpServer.builder();
        assertThatThrownBy(() -> server.sendBuffer(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> server.receiveBuffer(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> server.trafficClass(256)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> server.linger(Duration.ofDays(1))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> server.fastOpen(-1)).isInstanceOf(IllegalArgumentException.class);
        TcpClient.Builder client = TcpClient.builder();
        assertThatThrownBy(() -> client.sendBuffer(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.receiveBuffer(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.trafficClass(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.linger(Duration.ofSeconds(-1))).isInstanceOf(IllegalArgumentException.class);
    }
}
