package io.millrace.conformance;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Reactors;
import io.millrace.poll.ManualClock;
import io.millrace.server.TcpServer;
import io.millrace.server.tls.Tls;
import io.millrace.server.tls.TlsWatch;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Certificates that are replaced while their server runs")
@Timeout(120)
class TlsWatchTest {
    private static final TestCertificates CERTIFICATES = TestCertificates.shared();
    private static final Logger LOGGER = Logger.getLogger("io.millrace.server");

    @TempDir
    Path directory;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final List<String> warnings = new CopyOnWriteArrayList<>();
    private final AtomicReference<Instant> wallClock = new AtomicReference<>(Instant.now());
    private final Handler log = new Handler() {
        @Override
        public void publish(LogRecord line) {
            if (line.getLevel().equals(Level.WARNING)) {
                warnings.add(line.getMessage());
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    @BeforeEach
    void listen() {
        LOGGER.addHandler(log);
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable one : opened.reversed()) {
            one.close();
        }
        LOGGER.removeHandler(log);
    }

    private Path chain() {
        return directory.resolve("chain.pem");
    }

    private Path key() {
        return directory.resolve("key.pem");
    }

    private void put(String alias) throws IOException {
        Files.copy(CERTIFICATES.chain(alias), chain(), StandardCopyOption.REPLACE_EXISTING);
        Files.copy(CERTIFICATES.key(alias), key(), StandardCopyOption.REPLACE_EXISTING);
    }

    private Reactors reactors(Reactors.Builder builder) {
        Reactors reactors = builder.reactors(1).wallClock(wallClock::get).open();
        opened.add(reactors);
        return reactors;
    }

    private TlsWatch watch(Tls tls, Reactors on) throws IOException {
        TlsWatch watch = TlsWatch.start(tls, on);
        opened.add(watch);
        return watch;
    }

    private TcpServer serve(Tls tls, Reactors on) throws IOException {
        TcpServer server = TcpServer.builder().manager(on).tls(tls).start((connection, data) -> connection.send(data));
        opened.add(server);
        return server;
    }

    private SSLSocket connect(TcpServer server) throws IOException {
        Socket plain =
                new Socket(server.address().getAddress(), server.address().getPort());
        opened.add(plain);
        plain.setSoTimeout(20_000);
        SSLSocket socket =
                (SSLSocket) CERTIFICATES.context("client").getSocketFactory().createSocket(plain, "localhost", 1, true);
        socket.startHandshake();
        return socket;
    }

    private String algorithm(TcpServer server) throws IOException {
        try (SSLSocket socket = connect(server)) {
            return socket.getSession().getPeerCertificates()[0].getPublicKey().getAlgorithm();
        }
    }

    private static void assertEcho(SSLSocket socket) throws IOException {
        socket.getOutputStream().write("echo".getBytes(US_ASCII));
        assertThat(new String(socket.getInputStream().readNBytes(4), US_ASCII)).isEqualTo("echo");
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    @DisplayName("tls-6: files that are overwritten, or replaced by a rename, are used; connections that stand go on")
    void overwritten(String backend) throws Exception {
        put("ec");
        Tls tls = Tls.server(chain(), key());
        Reactors reactors = reactors(Reactors.builder().backend(backend));
        TlsWatch watch = watch(tls, reactors);
        TcpServer server = serve(tls, reactors);
        SSLSocket before = connect(server);
        assertThat(algorithm(server)).isEqualTo("EC");
        put("rsa");
        await().atMost(40, TimeUnit.SECONDS).until(() -> algorithm(server).equals("RSA"));
        Path newChain = Files.copy(CERTIFICATES.chain("ec"), directory.resolve("chain.new"));
        Path newKey = Files.copy(CERTIFICATES.key("ec"), directory.resolve("key.new"));
        Files.move(newChain, chain(), StandardCopyOption.ATOMIC_MOVE);
        Files.move(newKey, key(), StandardCopyOption.ATOMIC_MOVE);
        await().atMost(40, TimeUnit.SECONDS).until(() -> algorithm(server).equals("EC"));
        assertEcho(before);
        assertThat(watch.failure()).isEmpty();
        assertThat(watch.reloads()).isGreaterThanOrEqualTo(2);
        assertThat(warnings).isEmpty();
    }

    @Test
    @DisplayName("tls-6: a link to a directory that is swapped, as Kubernetes does, brings the new files")
    void swappedLink() throws Exception {
        for (String alias : List.of("ec", "rsa")) {
            Path data = Files.createDirectory(directory.resolve("..data_" + alias));
            Files.copy(CERTIFICATES.chain(alias), data.resolve("tls.crt"));
            Files.copy(CERTIFICATES.key(alias), data.resolve("tls.key"));
        }
        Path link = directory.resolve("..data");
        Files.createSymbolicLink(link, Path.of("..data_ec"));
        Path chain = Files.createSymbolicLink(directory.resolve("tls.crt"), Path.of("..data/tls.crt"));
        Path key = Files.createSymbolicLink(directory.resolve("tls.key"), Path.of("..data/tls.key"));
        Tls tls = Tls.server(chain, key);
        Reactors reactors = reactors(Reactors.builder());
        watch(tls, reactors);
        TcpServer server = serve(tls, reactors);
        assertThat(algorithm(server)).isEqualTo("EC");
        Path next = Files.createSymbolicLink(directory.resolve("..data_tmp"), Path.of("..data_rsa"));
        Files.move(next, link, StandardCopyOption.ATOMIC_MOVE);
        await().atMost(20, TimeUnit.SECONDS).until(() -> algorithm(server).equals("RSA"));
        // And what the link leads to now is watched, too.
        Files.copy(
                CERTIFICATES.chain("ec"), directory.resolve("..data_rsa/tls.crt"), StandardCopyOption.REPLACE_EXISTING);
        Files.copy(
                CERTIFICATES.key("ec"), directory.resolve("..data_rsa/tls.key"), StandardCopyOption.REPLACE_EXISTING);
        await().atMost(20, TimeUnit.SECONDS).until(() -> algorithm(server).equals("EC"));
        assertThat(warnings).isEmpty();
    }

    @Test
    @DisplayName("tls-6: a broken file keeps the old one and is reported once, when it has stayed broken for a while")
    void broken() throws Exception {
        put("ec");
        ManualClock clock = new ManualClock();
        Tls tls = Tls.server(chain(), key());
        Reactors reactors = reactors(Reactors.builder().clock(clock).withoutWatchdog());
        TlsWatch watch = watch(tls, reactors);
        Files.writeString(key(), "half a k");
        await().until(() -> {
            clock.advance(Duration.ofMillis(100));
            return watch.failure().isPresent();
        });
        assertThat(warnings).as("it may be being written").isEmpty();
        await().until(() -> {
            clock.advance(Duration.ofMillis(250));
            return !warnings.isEmpty();
        });
        assertThat(warnings.getFirst())
                .startsWith("TLS goes on with the certificates that it has: cannot use " + key())
                .contains("no private key");
        for (int i = 0; i < 50; i++) {
            clock.advance(Duration.ofSeconds(1));
        }
        Files.copy(CERTIFICATES.key("rsa"), key(), StandardCopyOption.REPLACE_EXISTING); // half of the change
        await().until(() -> {
            clock.advance(Duration.ofMillis(100));
            return watch.failure().orElseThrow().getMessage().contains("it is not the key of");
        });
        Files.copy(CERTIFICATES.chain("rsa"), chain(), StandardCopyOption.REPLACE_EXISTING);
        await().until(() -> {
            clock.advance(Duration.ofMillis(100));
            return watch.failure().isEmpty();
        });
        assertThat(warnings).hasSize(1);
        assertThat(watch.reloads()).isEqualTo(1);
    }

    @Test
    @DisplayName(
            "tls-6: certificates that expire within two weeks are reported, once a day, and when they have expired")
    void expiry() throws Exception {
        put("ec"); // valid for 30 days
        ManualClock clock = new ManualClock();
        Tls tls = Tls.server(chain(), key());
        TlsWatch watch = watch(tls, reactors(Reactors.builder().clock(clock).withoutWatchdog()));
        Instant end = tls.expiry().orElseThrow();
        watch.reload();
        clock.advance(Duration.ofHours(1));
        assertThat(warnings).isEmpty();
        wallClock.set(end.minus(Duration.ofDays(3)));
        await().until(() -> {
            clock.advance(Duration.ofHours(1));
            return !warnings.isEmpty();
        });
        assertThat(warnings.getFirst()).contains("expires at " + end).contains("in 3 days");
        wallClock.set(end.plus(Duration.ofSeconds(1)));
        await().until(() -> {
            clock.advance(Duration.ofHours(1));
            return warnings.size() > 1;
        });
        assertThat(warnings).hasSize(2);
        assertThat(warnings.getLast()).contains("has expired at " + end);
    }

    @Test
    @DisplayName("tls-6: certificates are swapped under load, many times, and no connection fails")
    void underLoad() throws Exception {
        put("ec");
        Tls tls = Tls.server(chain(), key());
        Reactors reactors = reactors(Reactors.builder());
        TlsWatch watch = watch(tls, reactors);
        TcpServer server = serve(tls, reactors);
        SSLSocket stands = connect(server);
        List<Throwable> failures = new CopyOnWriteArrayList<>();
        AtomicReference<Boolean> running = new AtomicReference<>(true);
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            clients.add(Thread.ofPlatform().start(() -> {
                while (running.get()) {
                    try (SSLSocket socket = connect(server)) {
                        assertEcho(socket);
                    } catch (Throwable e) {
                        failures.add(e);
                    }
                }
            }));
        }
        for (int i = 1; i <= 6; i++) {
            String alias = i % 2 == 0 ? "ec" : "rsa";
            long before = watch.reloads();
            put(alias);
            await().atMost(20, TimeUnit.SECONDS)
                    .until(() -> watch.reloads() > before && watch.failure().isEmpty());
            assertEcho(stands);
        }
        running.set(false);
        for (Thread each : clients) {
            each.join();
        }
        assertThat(failures).isEmpty();
        assertThat(warnings).isEmpty();
    }

    @Test
    @DisplayName("tls-6: settings without files cannot be watched, and a closed watch reloads nothing")
    void withoutFiles() throws Exception {
        Reactors reactors = reactors(Reactors.builder());
        assertThatThrownBy(() -> TlsWatch.start(Tls.of(CERTIFICATES.context("ec")), reactors))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not made from files");
        put("ec");
        Tls tls = Tls.server(chain(), key());
        TlsWatch watch = watch(tls, reactors);
        watch.close();
        watch.close();
        put("rsa");
        watch.reload();
        assertThat(watch.reloads()).isZero();
    }
}
