package io.millrace.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.engine.BlockedLoop;
import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.engine.VirtualThreadReport;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("Virtual threads beside callbacks on one loop")
@Timeout(30)
class DirectLoopTest {
    private final LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();
    private final LinkedBlockingQueue<BlockedLoop> blocked = new LinkedBlockingQueue<>();

    @BeforeEach
    void onLoops() {
        assumeTrue(VirtualThreadReport.probe().onLoops());
    }

    private Reactors open(Duration limit) {
        return Reactors.builder()
                .reactors(1)
                .name("test")
                .watchdog(limit, blocked::add)
                .open();
    }

    private static Socket connect(InetSocketAddress address) throws IOException {
        Socket socket = new Socket();
        socket.connect(address);
        socket.setSoTimeout(20_000);
        return socket;
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(UTF_8));
    }

    private static BufferedReader reader(Socket socket) throws IOException {
        return new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
    }

    @Test
    @DisplayName("srv-7, vt-2: what a conversation on a loop connects is on that loop")
    void connectsOnItsLoop() throws Exception {
        CompletableFuture<Set<Thread>> where = new CompletableFuture<>();
        try (Reactors reactors = Reactors.builder().reactors(3).name("test").open();
                TcpServer upstream = TcpServer.builder().manager(reactors).start((connection, data) -> {});
                TcpClient client = TcpClient.builder().manager(reactors).open();
                DirectServer direct = DirectServer.start(TcpServer.builder().manager(reactors), socket -> {
                    Set<Thread> threads = ConcurrentHashMap.newKeySet();
                    for (int i = 0; i < 6; i++) {
                        client.connect(upstream.address(), new ConnectionHandler() {
                                    @Override
                                    public void onConnect(Connection connection) {
                                        threads.add(Thread.currentThread());
                                    }

                                    @Override
                                    public void onData(Connection connection, ByteBuffer data) {}
                                })
                                .get(10, TimeUnit.SECONDS);
                    }
                    where.complete(threads);
                });
                Socket peer = connect(direct.address())) {
            assertThat(peer.isConnected()).isTrue();
            assertThat(where.get(20, TimeUnit.SECONDS)).hasSize(1);
        }
    }

    @Test
    @DisplayName("vt-3 a callback that waits for a lock which a parked conversation of its loop holds gets it")
    void lockAcrossTheLoop() throws Exception {
        Object lock = new Object();
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        try (Reactors reactors = open(Duration.ofMillis(20));
                DirectServer direct = DirectServer.start(TcpServer.builder().manager(reactors), socket -> {
                    synchronized (lock) {
                        held.countDown();
                        leave.await(); // parks with the lock, and comes back through the loop's queue
                        log.add("left");
                    }
                });
                TcpServer callbacks = TcpServer.builder().manager(reactors).start((connection, data) -> {
                    leave.countDown();
                    synchronized (lock) {
                        connection.send(data);
                    }
                });
                Socket one = connect(direct.address());
                Socket two = connect(callbacks.address())) {
            held.await();
            send(two, "through\n");
            assertThat(reader(two).readLine()).isEqualTo("through");
            assertThat(log).containsExactly("left");
            assertThat(one.isConnected()).isTrue();
        }
    }

    @Test
    @DisplayName("vt-3 the watchdog names a conversation that blocks its loop, with its own stack")
    void watchdog() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        try (Reactors reactors = open(Duration.ofMillis(20));
                DirectServer server = DirectServer.start(TcpServer.builder().manager(reactors), socket -> {
                    socket.readLine(10);
                    spin(stop);
                });
                Socket socket = connect(server.address())) {
            send(socket, "go\n");
            BlockedLoop report = blocked.poll(10, TimeUnit.SECONDS);
            String dump = reactors.dump();
            stop.set(true);
            assertThat(report).isNotNull();
            assertThat(report.handler()).contains("virtual thread", "millrace-conversation-1");
            assertThat(report.stack()).anyMatch(frame -> frame.getMethodName().equals("spin"));
            assertThat(dump).contains("millrace-conversation-1");
        }
    }

    private static void spin(AtomicBoolean stop) {
        while (!stop.get()) {
            Thread.onSpinWait();
        }
    }

    @Test
    @DisplayName(
            "vt-2 handlers that are dispatched to virtual threads run on their connection's loop, and may wait there")
    void dispatch() throws Exception {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        try (Reactors reactors = open(Duration.ofSeconds(10));
                TcpServer server = TcpServer.builder()
                        .manager(reactors)
                        .dispatch(Dispatch.VIRTUAL, 1)
                        .start((connection, data) -> {
                            String text = UTF_8.decode(data).toString();
                            log.add(carrier());
                            if (text.equals("wait\n")) {
                                answer.join();
                                log.add(carrier());
                            } else {
                                answer.complete(null);
                            }
                            connection.send(text);
                        });
                Socket waiting = connect(server.address());
                Socket other = connect(server.address())) {
            send(waiting, "wait\n");
            assertThat(log.poll(10, TimeUnit.SECONDS)).contains("test");
            send(other, "go on\n");
            assertThat(reader(other).readLine()).isEqualTo("go on");
            assertThat(reader(waiting).readLine()).isEqualTo("wait");
            assertThat(log).hasSize(2).allMatch(carrier -> carrier.contains("test"));
        }
    }

    @Test
    @DisplayName("vt-2 with loopThreads(false) they stay on the JDK's scheduler")
    void dispatchElsewhere() throws Exception {
        try (Reactors reactors = open(Duration.ofSeconds(10));
                TcpServer server = TcpServer.builder()
                        .manager(reactors)
                        .dispatch(Dispatch.VIRTUAL, 1)
                        .loopThreads(false)
                        .start((connection, data) -> connection.send(carrier() + "\n"));
                Socket socket = connect(server.address())) {
            send(socket, "where?\n");
            assertThat(reader(socket).readLine()).contains("ForkJoinPool");
        }
    }

    private static String carrier() {
        String text = Thread.currentThread().toString();
        return text.substring(text.indexOf('@') + 1);
    }
}
