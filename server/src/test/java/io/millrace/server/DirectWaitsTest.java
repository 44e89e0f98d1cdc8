package io.millrace.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Dispatch;
import io.millrace.engine.OffLoop;
import io.millrace.engine.OnLoop;
import io.millrace.engine.Reactors;
import io.millrace.engine.VirtualThreadReport;
import io.millrace.net.Io;
import io.millrace.net.Net;
import io.millrace.net.Pipe;
import io.millrace.poll.Channel;
import io.millrace.poll.Interest;
import io.millrace.poll.ManualClock;
import io.millrace.poll.Readiness;
import io.millrace.poll.Received;
import io.millrace.poll.Registration;
import io.millrace.poll.Sender;
import io.millrace.poll.Source;
import io.millrace.poll.Timer;
import io.millrace.server.DirectServerTest.Place;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Run twice: in a JVM that lets virtual threads run on loops, and in one that does not. */
@DisplayName("What a conversation can wait for")
@Timeout(30)
class DirectWaitsTest {
    private static final String PLACES = "io.millrace.server.DirectServerTest#places";

    private final LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();

    /** What ends a wait, on the test's thread. */
    private interface Release {
        void run() throws Exception;
    }

    /**
     * One conversation waits for something, and says so before. Meanwhile another one is served by the same loop, which
     * has one thread. After that, the first one is released, and goes on where it was.
     */
    private void parks(Place place, Conversation waiting, Release release) throws Exception {
        try (Reactors reactors = place.open()) {
            parks(reactors, place, waiting, release);
        }
    }

    private void parks(Reactors reactors, Place place, Conversation waiting, Release release) throws Exception {
        boolean onLoops = place.onLoops() && VirtualThreadReport.probe().onLoops();
        CompletableFuture<Thread> waiter = new CompletableFuture<>();
        try (DirectServer server = place.start(reactors, socket -> {
                    if ("wait".equals(socket.readLine(100))) {
                        String before = DirectServerTest.carrier();
                        waiter.complete(Thread.currentThread());
                        waiting.talk(socket);
                        socket.write(before.contains("test") + " "
                                + DirectServerTest.carrier().contains("test") + "\n");
                    } else {
                        socket.write("served\n");
                    }
                });
                Socket first = connect(server);
                Socket second = connect(server)) {
            send(first, "wait\n");
            awaitParked(waiter.get(20, TimeUnit.SECONDS));
            send(second, "hello\n");
            assertThat(reader(second).readLine()).isEqualTo("served");
            assertThat(first.getInputStream().available()).isZero();
            release.run();
            assertThat(reader(first).readLine()).isEqualTo(onLoops + " " + onLoops);
        }
    }

    private static void awaitParked(Thread waiter) {
        await().until(() -> switch (waiter.getState()) {
            case WAITING, TIMED_WAITING, BLOCKED -> true;
            default -> false;
        });
    }

    private static Socket connect(DirectServer server) throws IOException {
        Socket socket = new Socket();
        socket.connect(server.address());
        socket.setSoTimeout(20_000);
        return socket;
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(UTF_8));
    }

    private static BufferedReader reader(Socket socket) throws IOException {
        return new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
    }

    private static Net net(Place place) {
        return place.backend().equals("nio") ? Net.nio() : Net.natively();
    }

    // ---- Sources ----

    @ParameterizedTest
    @MethodSource(PLACES)
    @DisplayName("vt-5 a wait for a source parks until it is ready, again and again, and leaves it unregistered")
    void awaitsASource(Place place) throws Exception {
        try (Pipe pipe = net(place).pipe()) {
            parks(
                    place,
                    socket -> {
                        ByteBuffer one = ByteBuffer.allocate(1);
                        for (char expected : "abc".toCharArray()) {
                            while (pipe.source().tryRead(one.clear()) == Io.WOULD_BLOCK) {
                                Readiness ready = OnLoop.await(pipe.source(), Interest.READABLE);
                                assertThat(ready.isReadable()).isTrue();
                            }
                            assertThat((char) one.get(0)).isEqualTo(expected);
                            log.add("" + expected);
                        }
                    },
                    () -> {
                        for (String each : new String[] {"a", "b", "c"}) {
                            pipe.sink().tryWrite(ByteBuffer.wrap(each.getBytes(UTF_8)));
                            assertThat(log.poll(20, TimeUnit.SECONDS)).isEqualTo(each);
                        }
                    });
        }
    }

    @ParameterizedTest
    @MethodSource(PLACES)
    @DisplayName("vt-5 a source in software can be waited for, also if it is ready before")
    void awaitsSoftware(Place place) throws Exception {
        try (Registration source = new Registration()) {
            parks(
                    place,
                    socket -> {
                        assertThat(OnLoop.await(source, Interest.READABLE, Duration.ofMinutes(1)))
                                .isEqualTo(Readiness.READABLE);
                        assertThat(OnLoop.await(source, Interest.READABLE)).isEqualTo(Readiness.READABLE);
                    },
                    () -> source.setReadiness(Readiness.READABLE));
        }
    }

    @ParameterizedTest
    @MethodSource(PLACES)
    @DisplayName("vt-5 a wait with a limit ends by the loop's clock, and the source can be waited for again")
    void awaitsForSomeTime(Place place) throws Exception {
        ManualClock clock = new ManualClock();
        try (Registration source = new Registration();
                Reactors reactors = Reactors.builder()
                        .reactors(1)
                        .backend(place.backend())
                        .withoutWatchdog()
                        .clock(clock)
                        .name("test")
                        .open()) {
            parks(
                    reactors,
                    place,
                    socket -> {
                        assertThat(OnLoop.await(source, Interest.READABLE, Duration.ofSeconds(5)))
                                .isEqualTo(Readiness.NONE);
                        log.add("over");
                        OnLoop.await(source, Interest.READABLE, Duration.ofSeconds(5));
                    },
                    () -> {
                        await().until(() -> reactors.dump().contains("alarm"));
                        clock.advance(Duration.ofMillis(4_999));
                        assertThat(log.poll(20, TimeUnit.MILLISECONDS)).isNull();
                        clock.advance(Duration.ofMillis(2));
                        assertThat(log.poll(20, TimeUnit.SECONDS)).isEqualTo("over");
                        source.setReadiness(Readiness.READABLE);
                    });
            reactors.execute(() -> {});
            await().untilAsserted(() -> assertThat(reactors.dump()).doesNotContain("alarm"));
        }
    }

    @ParameterizedTest
    @MethodSource(PLACES)
    @DisplayName("vt-5 an interrupt ends a wait for a source, which can be waited for again")
    void interrupted(Place place) throws Exception {
        CompletableFuture<Thread> waiter = new CompletableFuture<>();
        try (Registration source = new Registration()) {
            parks(
                    place,
                    socket -> {
                        waiter.complete(Thread.currentThread());
                        assertThatThrownBy(() -> OnLoop.await(source, Interest.READABLE, Duration.ofMinutes(1)))
                                .isInstanceOf(InterruptedException.class);
                        assertThat(Thread.interrupted()).isFalse();
                        log.add("interrupted");
                        OnLoop.await(source, Interest.READABLE);
                    },
                    () -> {
                        waiter.join().interrupt();
                        assertThat(log.poll(20, TimeUnit.SECONDS)).isEqualTo("interrupted");
                        source.setReadiness(Readiness.READABLE);
                    });
        }
    }

    @ParameterizedTest
    @MethodSource(PLACES)
    @DisplayName("vt-5 a source that is closed meanwhile ends the wait with an exception")
    void closed(Place place) throws Exception {
        Pipe pipe = net(place).pipe();
        Registration soft = new Registration();
        CompletableFuture<Thread> waiter = new CompletableFuture<>();
        parks(
                place,
                socket -> {
                    assertThatThrownBy(() -> OnLoop.await(pipe.source(), Interest.READABLE, Duration.ofMinutes(1)))
                            .isInstanceOf(IOException.class)
                            .hasMessageContaining("closed");
                    waiter.complete(Thread.currentThread());
                    assertThatThrownBy(() -> OnLoop.await(soft, Interest.READABLE))
                            .isInstanceOf(IOException.class)
                            .hasMessageContaining("closed");
                    assertThatThrownBy(() -> OnLoop.await(soft, Interest.READABLE))
                            .isInstanceOf(IllegalStateException.class);
                },
                () -> {
                    pipe.source().close(); // not the other end first, which would make it ready
                    awaitParked(waiter.get(20, TimeUnit.SECONDS));
                    soft.close();
                });
        pipe.close();
    }

    @ParameterizedTest
    @MethodSource(PLACES)
    @DisplayName("vt-5 a source whose own code throws an error fails the wait, whichever thread runs that code")
    void sourceFails(Place place) throws Exception {
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    for (int good = 0; good < 4; good++) {
                        log.add(failsAfter(good));
                    }
                });
                Socket socket = connect(server)) {
            assertThat(socket.getInputStream().read()).isNegative();
            assertThat(log).containsExactly("on purpose", "on purpose", "on purpose", "nothing");
        }
    }

    /** Waits for a source that answers a number of calls, and returns what that throws. */
    private static String failsAfter(int good) throws Exception {
        AtomicInteger calls = new AtomicInteger();
        try (Registration inner = new Registration();
                Registration other = new Registration()) {
            Source failing = () -> {
                if (calls.getAndIncrement() == good) {
                    throw new NoClassDefFoundError("on purpose");
                }
                return inner.handle();
            };
            try {
                OnLoop.await(failing, Interest.READABLE, Duration.ofMillis(1));
                return "nothing";
            } catch (NoClassDefFoundError e) {
                assertThat(OnLoop.await(other, Interest.READABLE, Duration.ofMillis(1)))
                        .isEqualTo(Readiness.NONE);
                return e.getMessage();
            }
        }
    }

    @ParameterizedTest
    @MethodSource(PLACES)
    @DisplayName("vt-5 when the loop ends, a wait for a source ends with an exception")
    void loopEnds(Place place) throws Exception {
        CompletableFuture<Thread> waiter = new CompletableFuture<>();
        try (Registration source = new Registration();
                Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    waiter.complete(Thread.currentThread());
                    try {
                        OnLoop.await(source, Interest.READABLE);
                    } catch (IOException e) {
                        log.add(e.getMessage());
                    }
                    try {
                        OnLoop.await(source, Interest.READABLE);
                    } catch (IOException e) {
                        log.add(e.getMessage());
                    }
                });
                Socket socket = connect(server)) {
            await().until(() -> waiter.join().getState() == Thread.State.WAITING);
            reactors.shutdown();
            assertThat(log.poll(20, TimeUnit.SECONDS)).contains("has ended");
            assertThat(log.poll(20, TimeUnit.SECONDS)).contains("has ended");
            assertThat(socket.isConnected()).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource(PLACES)
    @DisplayName("vt-5 code off the loop waits for sources on the same loop")
    void offLoop(Place place) throws Exception {
        try (Registration source = new Registration()) {
            parks(
                    place,
                    socket -> {
                        OnLoop.await(source, Interest.READABLE);
                        OffLoop.call(() -> OnLoop.await(source, Interest.READABLE));
                    },
                    () -> source.setReadiness(Readiness.READABLE));
        }
    }

    @Test
    @DisplayName("vt-5 handlers on virtual threads wait for sources on their connection's loop, carried or not")
    void inHandlers() throws Exception {
        for (boolean onLoops : new boolean[] {true, false}) {
            try (Registration source = new Registration();
                    Reactors reactors = new Place("epoll", true).open();
                    TcpServer server = TcpServer.builder()
                            .manager(reactors)
                            .dispatch(Dispatch.VIRTUAL, 1)
                            .loopThreads(onLoops)
                            .start((connection, data) -> {
                                try {
                                    log.add("waits");
                                    OnLoop.await(source, Interest.READABLE);
                                    connection.send("ready\n");
                                } catch (IOException | InterruptedException e) {
                                    log.add("failed: " + e);
                                }
                            });
                    Socket socket = new Socket()) {
                socket.connect(server.address());
                socket.setSoTimeout(20_000);
                send(socket, "go\n");
                assertThat(log.poll(20, TimeUnit.SECONDS)).isEqualTo("waits");
                await().until(() ->
                        reactors.dump().contains("a wait of") || reactors.dump().contains("source "));
                source.setReadiness(Readiness.READABLE);
                assertThat(reader(socket).readLine()).isEqualTo("ready");
            }
        }
    }

    @Test
    @DisplayName("vt-5 any other thread can wait for a source, which a loop of the global manager watches")
    void anyThread() throws Exception {
        for (Thread.Builder kind : new Thread.Builder[] {Thread.ofPlatform(), Thread.ofVirtual()}) {
            try (Registration source = new Registration();
                    Pipe pipe = Pipe.open()) {
                Thread thread = kind.start(() -> {
                    try {
                        log.add("" + OnLoop.await(source, Interest.READABLE));
                        log.add("" + OnLoop.await(source, Interest.READABLE, Duration.ofMillis(1)));
                        log.add("" + OnLoop.await(pipe.source(), Interest.READABLE, Duration.ofMillis(1)));
                    } catch (IOException | InterruptedException e) {
                        log.add("failed: " + e);
                    }
                });
                await().until(() -> thread.getState() == Thread.State.WAITING);
                source.setReadiness(Readiness.READABLE);
                assertThat(log.poll(20, TimeUnit.SECONDS)).isEqualTo("" + Readiness.READABLE);
                assertThat(log.poll(20, TimeUnit.SECONDS)).isEqualTo("" + Readiness.READABLE);
                assertThat(log.poll(20, TimeUnit.SECONDS)).isEqualTo("" + Readiness.NONE);
                thread.join();
            }
        }
    }

    @Test
    @DisplayName(
            "vt-5 a wait that cannot be is refused: on a loop's own thread, for a timer, a registered source, nothing")
    void refusals() throws Exception {
        CompletableFuture<Throwable> onLoop = new CompletableFuture<>();
        try (Registration source = new Registration();
                Reactors reactors = new Place("epoll", true).open()) {
            reactors.execute(() -> {
                try {
                    OnLoop.await(source, Interest.READABLE);
                } catch (Throwable e) {
                    onLoop.complete(e);
                }
            });
            assertThat(onLoop.get(20, TimeUnit.SECONDS))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("thread of a loop");
            assertThatThrownBy(() -> OnLoop.await(Timer.create(), Interest.READABLE))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("timer");
            assertThatThrownBy(() -> OnLoop.await(source, Interest.NONE)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> OnLoop.await(source, Interest.READABLE, Duration.ZERO))
                    .isInstanceOf(IllegalArgumentException.class);
            Thread first = Thread.ofVirtual().start(() -> {
                try {
                    OnLoop.await(source, Interest.READABLE);
                } catch (IOException | InterruptedException e) {
                    log.add("ended");
                }
            });
            await().until(() -> first.getState() == Thread.State.WAITING);
            assertThatThrownBy(() -> OnLoop.await(source, Interest.READABLE))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("already registered");
            first.interrupt();
            assertThat(log.poll(20, TimeUnit.SECONDS)).isEqualTo("ended");
        }
    }

    // ---- Channels ----

    @ParameterizedTest
    @MethodSource(PLACES)
    @DisplayName("vt-5 taking from a channel parks until a message comes, and ends with its last sender")
    void takes(Place place) throws Exception {
        Channel<String> channel = Channel.unbounded();
        Sender<String> sender = channel.sender();
        parks(
                place,
                socket -> {
                    assertThat(channel.take()).isEqualTo("one");
                    assertThat(channel.take()).isEqualTo("two");
                    log.add("two");
                    assertThat(channel.take()).isNull();
                    assertThat(channel.receive(Duration.ofMinutes(1))).isInstanceOf(Received.Disconnected.class);
                },
                () -> {
                    sender.send("one");
                    sender.send("two");
                    assertThat(log.poll(20, TimeUnit.SECONDS)).isEqualTo("two");
                    sender.close();
                });
    }

    @ParameterizedTest
    @MethodSource(PLACES)
    @DisplayName(
            "vt-5 a channel that is closed wakes the thread that takes from it, and another may take after one has")
    void closedChannel(Place place) throws Exception {
        Channel<String> first = Channel.unbounded();
        Channel<String> second = Channel.unbounded();
        parks(
                place,
                socket -> {
                    OffLoop.call(() -> first.receive(Duration.ofNanos(1)));
                    assertThat(first.take()).isNull();
                    log.add("first");
                    assertThat(second.receive(Duration.ofMinutes(1))).isInstanceOf(Received.Disconnected.class);
                },
                () -> {
                    first.close();
                    assertThat(log.poll(20, TimeUnit.SECONDS)).isEqualTo("first");
                    second.close();
                });
    }

    @ParameterizedTest
    @MethodSource(PLACES)
    @DisplayName("vt-5 conversations of one loop pass each other messages")
    void passMessages(Place place) throws Exception {
        Channel<String> channel = Channel.bounded(1);
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    String line = socket.readLine(100);
                    if ("receive".equals(line)) {
                        log.add("waits");
                        for (int i = 0; i < 1_000; i++) {
                            socket.write(channel.take() + "\n");
                        }
                    } else {
                        for (int i = 0; i < 1_000; i++) {
                            while (!channel.send("" + i).isSent()) {
                                Thread.yield();
                            }
                        }
                    }
                });
                Socket receiver = connect(server);
                Socket sender = connect(server)) {
            send(receiver, "receive\n");
            assertThat(log.poll(20, TimeUnit.SECONDS)).isEqualTo("waits");
            send(sender, "send\n");
            BufferedReader reader = reader(receiver);
            for (int i = 0; i < 1_000; i++) {
                assertThat(reader.readLine()).isEqualTo("" + i);
            }
        }
    }

    // ---- Time and locks ----

    @ParameterizedTest
    @MethodSource(PLACES)
    @DisplayName("vt-5 a sleep parks, and the conversation wakes on its loop")
    void sleeps(Place place) throws Exception {
        CompletableFuture<Thread> sleeper = new CompletableFuture<>();
        parks(
                place,
                socket -> {
                    sleeper.complete(Thread.currentThread());
                    try {
                        Thread.sleep(Duration.ofMinutes(1));
                    } catch (InterruptedException e) {
                        Thread.sleep(1); // and in time
                    }
                },
                () -> sleeper.join().interrupt());
    }

    @ParameterizedTest
    @MethodSource(PLACES)
    @DisplayName("vt-5 a wait for an alarm parks until it fires")
    void alarms(Place place) throws Exception {
        ManualClock clock = new ManualClock();
        try (Reactors reactors = Reactors.builder()
                .reactors(1)
                .backend(place.backend())
                .withoutWatchdog()
                .clock(clock)
                .name("test")
                .open()) {
            parks(
                    reactors,
                    place,
                    socket -> reactors.after(Duration.ofSeconds(5)).get(),
                    () -> {
                        await().until(() -> reactors.dump().contains("alarm"));
                        clock.advance(Duration.ofSeconds(6));
                    });
        }
    }

    @ParameterizedTest
    @MethodSource(PLACES)
    @DisplayName("vt-5 a lock that another thread holds parks")
    void locks(Place place) throws Exception {
        ReentrantLock lock = new ReentrantLock();
        lock.lock();
        parks(
                place,
                socket -> {
                    lock.lock();
                    lock.unlock();
                },
                lock::unlock);
    }

    @ParameterizedTest
    @MethodSource(PLACES)
    @DisplayName("vt-5 a monitor that another thread holds parks, and so does a wait for its notification")
    void monitors(Place place) throws Exception {
        Object monitor = new Object();
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        CompletableFuture<Thread> waiter = new CompletableFuture<>();
        Thread holder = Thread.ofPlatform().start(() -> {
            synchronized (monitor) {
                held.countDown();
                try {
                    release.await();
                } catch (InterruptedException e) {
                    log.add("interrupted");
                }
            }
        });
        held.await();
        boolean[] notified = new boolean[1];
        parks(
                place,
                socket -> {
                    synchronized (monitor) {
                        waiter.complete(Thread.currentThread());
                        while (!notified[0]) {
                            monitor.wait();
                        }
                    }
                },
                () -> {
                    release.countDown();
                    await().until(() -> waiter.join().getState() == Thread.State.WAITING);
                    synchronized (monitor) {
                        notified[0] = true;
                        monitor.notifyAll();
                    }
                });
        holder.join();
    }
}
