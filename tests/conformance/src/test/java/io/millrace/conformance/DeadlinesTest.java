package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.poll.Clock;
import io.millrace.poll.ManualClock;
import io.millrace.server.Connection;
import io.millrace.server.ShutdownResult;
import io.millrace.server.TcpServer;
import io.millrace.testkit.Await;
import io.millrace.testkit.Background;
import io.millrace.testkit.OpenFiles;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every kind of ending, in every situation, asked for by every kind of caller: it returns, by its deadline, and nothing is left once handlers have returned. */
@DisplayName("Endings and their deadlines")
@Timeout(60)
@EnabledOnOs(OS.LINUX)
class DeadlinesTest {
    private static final Duration LIMIT = Duration.ofSeconds(5);
    /** For a look at some of them alone: {@code -Dmillrace.cases=server.POOL.BLOCKED}. */
    private static final Pattern CASES = Pattern.compile(System.getProperty("millrace.cases", ""));

    private enum Situation {
        IDLE,
        /** A handler that does not return. */
        BLOCKED,
        /** Bytes are queued for a peer that does not read. */
        UNREAD,
        /** Somebody holds a reference. */
        REFERENCED
    }

    private enum Means {
        SHUTDOWN,
        CLOSE
    }

    /** Calls the end, and completes with what is left when that call has returned. */
    private interface Caller {
        CompletableFuture<List<String>> call(Callable<List<String>> end) throws Exception;
    }

    private record Case(String what, Callable<Ended> open, Situation situation, Means means, String caller) {
        @Override
        public String toString() {
            return what + " " + situation + " " + means + " by " + caller;
        }
    }

    private static final List<String> OUTSIDE =
            List.of("thread", "interrupted", "virtual", "two threads", "other loop");

    static Stream<Case> cases() throws Exception {
        List<Case> all = new ArrayList<>();
        for (Dispatch dispatch : Dispatch.values()) {
            add(
                    all,
                    "server " + dispatch,
                    () -> new Ended.OfServer(dispatch),
                    List.of("callback"),
                    Situation.IDLE,
                    Situation.BLOCKED,
                    Situation.UNREAD);
            add(
                    all,
                    "client " + dispatch,
                    () -> new Ended.OfClient(dispatch),
                    List.of("callback"),
                    Situation.IDLE,
                    Situation.BLOCKED);
            add(
                    all,
                    "loop " + dispatch,
                    () -> new Ended.OfLoop(dispatch),
                    dispatch == Dispatch.LOOP
                            ? List.of("handler", "compute task")
                            : List.of("handler", "compute task", "task", "alarm"),
                    Situation.IDLE,
                    Situation.BLOCKED);
        }
        add(
                all,
                "reactors",
                Ended.OfReactors::new,
                List.of("task", "alarm"),
                Situation.IDLE,
                Situation.BLOCKED,
                Situation.REFERENCED);
        add(all, "compute pool", Ended.OfCompute::new, List.of("compute task"), Situation.IDLE, Situation.BLOCKED);
        return all.stream().filter(test -> CASES.matcher(test.toString()).find());
    }

    /** Has the JVM open what it opens once. */
    @BeforeAll
    static void warmUp() throws Exception {
        try (Ended.OfServer subject = new Ended.OfServer(Dispatch.LOOP)) {
            subject.letGo();
        }
    }

    private static void add(
            List<Case> all, String what, Callable<Ended> open, List<String> insides, Situation... situations) {
        for (Situation situation : situations) {
            for (Means means : Means.values()) {
                OUTSIDE.forEach(caller -> all.add(new Case(what, open, situation, means, caller)));
                insides.forEach(caller -> all.add(new Case(what, open, situation, means, "its " + caller)));
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    @DisplayName(
            "end-3, mill-12: every ending returns by its deadline, whoever asks for it, and ends all when handlers return")
    void returnsByItsDeadline(Case test) throws Exception {
        Map<String, Integer> before = OpenFiles.count();
        Ended subject = test.open.call();
        try (OtherLoop other = new OtherLoop()) {
            boolean held = isHeld(subject, test.situation);
            Callable<List<String>> end = () -> {
                if (test.means == Means.CLOSE) {
                    subject.close();
                    return List.of();
                }
                return subject.shutdown(LIMIT);
            };
            CompletableFuture<List<String>> returned =
                    caller(test.caller, subject, other).call(end);
            boolean inside = test.caller.startsWith("its ");
            if (inside || !held) {
                // Without any time: nothing has to be waited for, or nothing may be.
                Await.until("it returns at once", returned::isDone);
            } else {
                Await.until("it returns when its time is over", () -> {
                    subject.clock.advance(Duration.ofMillis(50));
                    return returned.isDone();
                });
                assertThat(subject.clock.nanoTime()).as("the deadline decides").isGreaterThanOrEqualTo(LIMIT.toNanos());
            }
            List<String> left = returned.get();
            if (test.situation == Situation.BLOCKED
                    && test.means == Means.SHUTDOWN
                    && !test.what.startsWith("client")) {
                assertThat(left).as("what has not ended").isNotEmpty();
            }
            subject.gate.countDown();
            // In the background, whose deadline needs the clock.
            Await.until("it has ended", () -> {
                subject.clock.advance(Duration.ofMillis(50));
                return subject.hasEnded();
            });
            subject.check();
            for (int i = 0; i < 2; i++) {
                Background<Boolean> again = Background.run(() -> {
                    subject.shutdown(LIMIT);
                    subject.close();
                });
                Clocks.advanceUntilDone(subject.clock, again);
            }
            subject.check();
        } finally {
            subject.gate.countDown();
            subject.letGo();
        }
        for (String name :
                List.of("tested", "carrier", "other", "millrace-server", "millrace-client", "millrace-shutdown")) {
            Clocks.awaitNoThread(name);
        }
        Await.until(
                "descriptors as before, " + before + ", not " + OpenFiles.count(),
                () -> OpenFiles.areNoMoreThan(before));
    }

    /** Brings it into its situation; true if an end has to wait for its deadline. */
    private static boolean isHeld(Ended subject, Situation situation) throws Exception {
        switch (situation) {
            case IDLE -> {
                return false;
            }
            case BLOCKED -> {
                subject.block();
                assertThat(subject.entered.await(10, TimeUnit.SECONDS)).isTrue();
            }
            case UNREAD -> ((Ended.OfServer) subject).sendUnread();
            case REFERENCED -> ((Ended.OfReactors) subject).manager.shutdownRef();
        }
        return true;
    }

    /** A loop of another manager, from which an end may be asked for. */
    private static final class OtherLoop implements AutoCloseable {
        private final Reactors manager =
                Reactors.builder().reactors(1).name("other").withoutWatchdog().open();

        @Override
        public void close() {
            manager.close();
        }
    }

    private static Caller caller(String name, Ended subject, OtherLoop other) {
        return switch (name) {
            case "thread" -> end -> on(task -> Thread.ofPlatform().daemon().start(task), end);
            case "interrupted" ->
                end -> on(task -> Thread.ofPlatform().daemon().start(task), () -> {
                    Thread.currentThread().interrupt();
                    List<String> left = end.call();
                    assertThat(Thread.interrupted()).as("the interrupt is kept").isTrue();
                    return left;
                });
            case "virtual" -> end -> on(task -> Thread.ofVirtual().start(task), end);
            case "two threads" ->
                end -> {
                    CompletableFuture<List<String>> first =
                            on(task -> Thread.ofPlatform().daemon().start(task), end);
                    CompletableFuture<List<String>> second =
                            on(task -> Thread.ofPlatform().daemon().start(task), end);
                    return first.thenCombine(second, (one, two) -> one.isEmpty() ? two : one);
                };
            case "other loop" -> end -> on(other.manager::execute, end);
            default -> {
                String inside = name.substring("its ".length());
                yield end -> on(task -> subject.insides().get(inside).accept(task), end);
            }
        };
    }

    private static CompletableFuture<List<String>> on(
            java.util.function.Consumer<Runnable> thread, Callable<List<String>> end) {
        CompletableFuture<List<String>> returned = new CompletableFuture<>();
        thread.accept(() -> {
            try {
                returned.complete(end.call());
            } catch (Throwable e) {
                returned.completeExceptionally(e);
            }
        });
        return returned;
    }

    /** A clock that the test moves, and that knows who waits for it. */
    private static final class WaitedFor implements Clock {
        private final ManualClock time = new ManualClock();
        /** When each wait that is not over began. */
        private final Map<Object, Long> began = new ConcurrentHashMap<>();

        @Override
        public long nanoTime() {
            return time.nanoTime();
        }

        @Override
        public Runnable subscribe(Runnable onJump) {
            Object wait = new Object();
            Runnable unsubscribe = time.subscribe(onJump);
            began.put(wait, nanoTime());
            return () -> {
                began.remove(wait);
                unsubscribe.run();
            };
        }

        /** Whether the thread is in a wait, and some wait has begun at this time: the thread's, if nobody else begins one. */
        boolean isWaitedForSinceBy(Duration sinceThen, Thread by) {
            return began.containsValue(sinceThen.toNanos()) && by.getState() == Thread.State.TIMED_WAITING;
        }
    }

    @Test
    @DisplayName(
            "end-3: a server that has reactors of its own has the one quarter of a second, and not another for them")
    void oneGrace() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch open = new CountDownLatch(1);
        Calls calls = new Calls() {
            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                entered.countDown();
                open.await();
            }
        };
        WaitedFor clock = new WaitedFor();
        TcpServer server = TcpServer.builder()
                .reactors(Reactors.builder()
                        .reactors(1)
                        .name("tested")
                        .withoutWatchdog()
                        .clock(clock))
                .start(calls);
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), server.address().getPort())) {
            socket.getOutputStream().write(1);
            entered.await();
            clock.time.advance(Duration.ofNanos(1)); // so that its waits begin when no other did
            Background<ShutdownResult> ending = Background.call(() -> server.shutdown(LIMIT));
            Await.until(
                    "it waits for its deadline", () -> clock.isWaitedForSinceBy(Duration.ofNanos(1), ending.thread()));
            clock.time.advance(LIMIT);
            Await.until(
                    "it waits for the quarter of a second",
                    () -> clock.isWaitedForSinceBy(LIMIT.plusNanos(1), ending.thread()));
            clock.time.advance(Duration.ofMillis(250));
            assertThat(ending.result().remaining()).as("without any more time").isNotEmpty();
            open.countDown();
            calls.awaitAllEnded();
        } finally {
            open.countDown();
        }
        Clocks.awaitNoThread("tested");
        Clocks.awaitNoThread("millrace-shutdown");
    }

    @Test
    @DisplayName("end-3: by the system's clock, a server with a blocked handler is shut down in much less than it took")
    void onTheSystemsClock() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch open = new CountDownLatch(1);
        Calls calls = new Calls() {
            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                entered.countDown();
                open.await();
            }
        };
        TcpServer server = TcpServer.builder()
                .reactors(Reactors.builder().reactors(1).name("tested"))
                .start(calls);
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), server.address().getPort())) {
            socket.getOutputStream().write(1);
            entered.await();
            long began = System.nanoTime();
            ShutdownResult result = server.shutdown(Duration.ofMillis(200));
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(5));
            assertThat(result.remaining()).isNotEmpty();
            open.countDown();
            calls.awaitAllEnded();
        } finally {
            open.countDown();
        }
        Clocks.awaitNoThread("tested");
    }
}
