package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.poll.Clock;
import io.millrace.poll.ManualClock;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import io.millrace.server.tls.Tls;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The peer is a client of ours, because it tells an end that was announced from one that was not; the JDK's sockets do not. */
@DisplayName("How connections with TLS end, as their peers see it")
@Timeout(60)
class TlsEndsTest {
    private static final TestCertificates CERTIFICATES = TestCertificates.shared();

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final LinkedBlockingQueue<String> told = new LinkedBlockingQueue<>();
    private final LinkedBlockingQueue<Connection> served = new LinkedBlockingQueue<>();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable one : opened.reversed()) {
            one.close();
        }
    }

    static Stream<Arguments> settings() {
        return ServerSetting.chosen().stream()
                .filter(setting -> !setting.tls())
                .flatMap(setting -> Stream.of("TLSv1.3", "TLSv1.2")
                        .map(version ->
                                Arguments.of(new ServerSetting(setting.on(), setting.dispatch(), true), version)));
    }

    private class Echo implements ConnectionHandler {
        @Override
        public void onConnect(Connection connection) {
            served.add(connection);
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            connection.send(data);
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            told.add("server: " + failure);
        }
    }

    private class Judge implements ConnectionHandler {
        private int received;
        private final int endsAt;

        Judge(int endsAt) {
            this.endsAt = endsAt;
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            received += data.remaining();
            if (endsAt == received) {
                connection.closeOutput();
            }
        }

        @Override
        public void onEndOfInput(Connection connection) {
            told.add("end after " + received);
            connection.close();
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            told.add("error after " + received + ": " + failure);
        }
    }

    private Connection connect(ServerSetting setting, String version, Clock clock, ConnectionHandler server, int endsAt)
            throws Exception {
        ServerSetting.Opened manager = setting.open(clock);
        opened.add(manager);
        TcpServer listening = manager.server().start(server);
        opened.add(listening);
        TcpClient client = TcpClient.builder()
                .tls(Tls.builder()
                        .trust(CERTIFICATES.authority())
                        .protocols(version)
                        .build())
                .open();
        opened.add(client);
        return client.connect(listening.address(), new Judge(endsAt)).get(20, TimeUnit.SECONDS);
    }

    private String next() throws InterruptedException {
        return String.valueOf(told.poll(20, TimeUnit.SECONDS));
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("tls-5: a server that closes after its peer has ended announces the end")
    void peerFirst(ServerSetting setting, String version) throws Exception {
        Connection connection = connect(setting, version, Clock.system(), new Echo(), 1000);
        connection.send(ByteBuffer.allocate(1000));
        assertThat(next()).isEqualTo("end after 1000");
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("tls-5: a server that closes a connection announces the end")
    void serverFirst(ServerSetting setting, String version) throws Exception {
        connect(setting, version, Clock.system(), new Echo(), -1);
        Connection at = served.poll(20, TimeUnit.SECONDS);
        at.send(ByteBuffer.allocate(1000));
        at.close();
        assertThat(next()).isEqualTo("end after 1000");
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("tls-5: a server that closes a connection that has been silent announces the end")
    void afterSilence(ServerSetting setting, String version) throws Exception {
        ManualClock clock = new ManualClock();
        connect(setting, version, clock, new Echo(), -1);
        Connection at = served.poll(20, TimeUnit.SECONDS);
        clock.advance(Duration.ofSeconds(3));
        at.send(ByteBuffer.allocate(1000));
        at.close();
        assertThat(next()).isEqualTo("end after 1000");
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("tls-5: a connection that ends with its server announces the end")
    void shutdown(ServerSetting setting, String version) throws Exception {
        connect(setting, version, Clock.system(), new Echo(), -1);
        Connection at = served.poll(20, TimeUnit.SECONDS);
        at.send(ByteBuffer.allocate(1000));
        ((TcpServer) opened.get(1)).shutdown(Duration.ofSeconds(10));
        assertThat(next()).isEqualTo("end after 1000");
    }
}
