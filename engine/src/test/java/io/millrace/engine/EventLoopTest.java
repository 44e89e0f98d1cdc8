package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.internal.Uninterruptibly;
import io.millrace.net.Io;
import io.millrace.net.Net;
import io.millrace.net.TcpListener;
import io.millrace.net.TcpStream;
import io.millrace.poll.Channel;
import io.millrace.poll.Clock;
import io.millrace.poll.Interest;
import io.millrace.poll.ManualClock;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Source;
import io.millrace.poll.Timer;
import io.millrace.poll.Trigger;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("An event loop")
@Timeout(60)
class EventLoopTest {
    private static final int MESSAGES = 20_000;

    /** A source in software, which anyone may make ready. */
    private static final class Soft implements Source {
        final Registration registration = new Registration();

        @Override
        public Registration handle() {
            return registration;
        }

        void ready() {
            registration.setReadiness(Readiness.READABLE);
        }
    }

    /** A loop that a thread of the test runs, until the test is over. */
    private static final class Running implements AutoCloseable {
        final EventLoop loop;
        private final Thread thread;

        Running(EventLoop.Builder builder) {
            loop = builder.withoutWatchdog().open();
            thread = Thread.ofPlatform().name("runner").start(loop::run);
        }

        @Override
        public void close() {
            loop.close();
            Uninterruptibly.join(thread);
        }
    }

    static Stream<Arguments> modesAndBackends() {
        return Stream.of(Dispatch.values())
                .flatMap(mode -> Stream.of("epoll", "poll", "nio").map(backend -> Arguments.of(mode, backend)));
    }

    private static Net net(String backend) {
        return backend.equals("nio") ? Net.nio() : Net.natively();
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName(
            "end-1: an interrupt that a handler leaves on the user's thread ends nothing, and is there when run returns")
    void anInterruptIsTheUsers(String backend) {
        List<String> ran = new ArrayList<>();
        try (EventLoop loop = EventLoop.builder()
                .dispatch(Dispatch.LOOP)
                .workers(1)
                .backend(backend)
                .withoutWatchdog()
                .open()) {
            loop.execute(() -> Thread.currentThread().interrupt());
            loop.schedule(
                    Duration.ofMillis(5),
                    fired -> {
                        ran.add("alarm " + fired);
                        loop.stop();
                    },
                    Priority.NORMAL);
            loop.run();
            assertThat(Thread.interrupted()).as("kept").isTrue();
        } finally {
            Thread.interrupted();
        }
        assertThat(ran).containsExactly("alarm true");
    }

    @Test
    @DisplayName("end-1: an interrupt that a handler leaves on a thread of the loop's own reaches no other handler")
    void anInterruptOnAThreadOfItsOwn() throws Exception {
        List<Boolean> interrupted = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch called = new CountDownLatch(2);
        List<Soft> sources = List.of(new Soft(), new Soft(), new Soft(), new Soft());
        try (Running running = new Running(EventLoop.builder().workers(2).dispatch(Dispatch.LOOP))) {
            for (int i = 0; i < sources.size(); i++) {
                running.loop.register(sources.get(i), i, Interest.READABLE, (loop, token, ready) -> {
                    if (!Thread.currentThread().getName().equals("runner")) {
                        interrupted.add(Thread.currentThread().isInterrupted());
                        Thread.currentThread().interrupt();
                        called.countDown();
                    }
                });
            }
            sources.forEach(Soft::ready);
            assertThat(called.await(10, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(interrupted).containsExactly(false, false);
    }

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("mill-3, mill-13: keeps the order of 20,000 messages on one connection, with 8 workers, in every mode")
    void keepsTheOrder(Dispatch mode, String backend) throws Exception {
        CompletableFuture<Integer> end = new CompletableFuture<>();
        try (TcpListener listener = net(backend).listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                Running running = new Running(
                        EventLoop.builder().workers(8).dispatch(mode).backend(backend));
                Socket client = new Socket(
                        InetAddress.getLoopbackAddress(),
                        listener.localAddress().getPort())) {
            running.loop.register(listener, 1, Interest.READABLE, (loop, token, ready) -> {
                for (TcpStream stream = listener.accept(); stream != null; stream = listener.accept()) {
                    loop.register(stream, 2, Interest.READABLE, new Counting(stream, end));
                }
            });
            DataOutputStream out = new DataOutputStream(new BufferedOutputStream(client.getOutputStream(), 64));
            for (int i = 0; i < MESSAGES; i++) {
                out.writeInt(i);
            }
            out.flush();
            client.shutdownOutput();
            assertThat(end.get(40, TimeUnit.SECONDS)).isEqualTo(MESSAGES);
        }
    }

    /** Fields without a lock: that they are right shows that the calls come one after the other, and see each other. */
    private static final class Counting implements EventHandler {
        private final TcpStream stream;
        private final CompletableFuture<Integer> end;
        private final ByteBuffer buffer = ByteBuffer.allocate(64);
        private int next;

        Counting(TcpStream stream, CompletableFuture<Integer> end) {
            this.stream = stream;
            this.end = end;
        }

        @Override
        public void ready(EventLoop loop, long token, Readiness readiness) throws Exception {
            for (; ; ) {
                int read = stream.tryRead(buffer);
                if (read == Io.WOULD_BLOCK) {
                    return;
                }
                if (read == Io.EOF) {
                    loop.deregister(token);
                    stream.close();
                    end.complete(next);
                    return;
                }
                buffer.flip();
                while (buffer.remaining() >= Integer.BYTES) {
                    int got = buffer.getInt();
                    if (got != next) {
                        throw new AssertionError("message " + got + " where " + next + " was expected");
                    }
                    next++;
                }
                buffer.compact();
            }
        }

        @Override
        public void onError(EventLoop loop, long token, Throwable failure) {
            end.completeExceptionally(failure);
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("mill-16: an edge that comes while the handler is in flight is delivered after it returns")
    void noEdgeIsLost(Dispatch mode) throws Exception {
        AtomicInteger written = new AtomicInteger();
        AtomicInteger seen = new AtomicInteger();
        AtomicInteger inside = new AtomicInteger();
        int sets = 100_000;
        CountDownLatch all = new CountDownLatch(1);
        try (Running running = new Running(EventLoop.builder().workers(4).dispatch(mode))) {
            Soft soft = new Soft();
            running.loop.register(soft, 1, Interest.READABLE, (loop, token, ready) -> {
                assertThat(inside.incrementAndGet()).isEqualTo(1);
                seen.set(written.get());
                inside.decrementAndGet();
                if (seen.get() == sets) {
                    all.countDown();
                }
            });
            for (int i = 0; i < sets; i++) {
                written.incrementAndGet();
                soft.ready();
            }
            assertThat(all.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("mill-3: a level source in flight is not reported again until its handler returns")
    void levelInFlight(Dispatch mode) throws Exception {
        AtomicInteger calls = new AtomicInteger();
        CountDownLatch enough = new CountDownLatch(3);
        try (Running running = new Running(EventLoop.builder().workers(2).dispatch(mode))) {
            Soft soft = new Soft();
            running.loop.register(soft, 1, Interest.READABLE, Trigger.LEVEL, Priority.NORMAL, (loop, token, ready) -> {
                if (calls.incrementAndGet() == 3) {
                    soft.registration.unsetReadiness(Readiness.READABLE);
                }
                enough.countDown();
            });
            soft.ready();
            assertThat(enough.await(10, TimeUnit.SECONDS)).isTrue();
            barrier(running.loop);
        }
        assertThat(calls.get()).isEqualTo(3);
    }

    private static void barrier(EventLoop loop) throws Exception {
        CompletableFuture<Void> passed = new CompletableFuture<>();
        loop.execute(() -> loop.execute(() -> passed.complete(null), Priority.LOW), Priority.LOW);
        passed.get(10, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("mill-4: a handler that throws is told, and it and the others are called again")
    void throwing(Dispatch mode) throws Exception {
        List<Throwable> told = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch twice = new CountDownLatch(2);
        CountDownLatch other = new CountDownLatch(1);
        try (Running running = new Running(EventLoop.builder().workers(1).dispatch(mode))) {
            Soft bad = new Soft();
            Soft good = new Soft();
            running.loop.register(bad, 1, Interest.READABLE, new EventHandler() {
                @Override
                public void ready(EventLoop loop, long token, Readiness readiness) throws Exception {
                    bad.registration.unsetReadiness(Readiness.READABLE); // nothing is left behind
                    throw new Exception("on purpose");
                }

                @Override
                public void onError(EventLoop loop, long token, Throwable failure) {
                    told.add(failure);
                    twice.countDown();
                    if (told.size() == 1) {
                        bad.ready();
                        throw new IllegalStateException("here too");
                    }
                }
            });
            running.loop.register(good, 2, Interest.READABLE, (loop, token, ready) -> other.countDown());
            bad.ready();
            assertThat(twice.await(10, TimeUnit.SECONDS)).isTrue();
            good.ready();
            assertThat(other.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(running.loop.metrics().failures()).isEqualTo(2);
        }
        assertThat(told).hasSize(2).allMatch(failure -> failure.getMessage().equals("on purpose"));
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName(
            "mill-4, mill-16: what a handler leaves of an edge when it throws is delivered, though no more arrives")
    void whatAThrowingHandlerLeaves(Dispatch mode) throws Exception {
        CountDownLatch got = new CountDownLatch(2);
        try (Running running = new Running(EventLoop.builder().workers(1).dispatch(mode));
                Channel<Integer> channel = Channel.unbounded()) {
            for (int i = 0; i < 3; i++) {
                channel.send(i);
            }
            running.loop.register(channel, 1, Interest.READABLE, (loop, token, ready) -> {
                for (Integer each; (each = channel.poll()) != null; ) {
                    if (each == 0) {
                        throw new IllegalStateException("a bad message");
                    }
                    got.countDown();
                }
            });
            assertThat(got.await(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    @DisplayName("mill-4: a handler that throws every time is called at longer and longer intervals, up to a second")
    void oneThatAlwaysThrowsDoesNotSpin() {
        ManualClock clock = new ManualClock();
        AtomicInteger calls = new AtomicInteger();
        AtomicBoolean bad = new AtomicBoolean(true);
        try (EventLoop loop = EventLoop.builder()
                .dispatch(Dispatch.LOOP)
                .workers(1)
                .clock(clock)
                .withoutWatchdog()
                .open()) {
            Soft source = new Soft();
            loop.register(source, 1, Interest.READABLE, (on, token, ready) -> {
                calls.incrementAndGet();
                if (bad.get()) {
                    throw new IllegalStateException("on purpose");
                }
            });
            source.ready();
            assertThat(callsIn(loop, calls)).isOne();
            long pause = 1;
            for (int i = 0; i < 15; i++) {
                clock.advance(Duration.ofMillis(pause - 1));
                assertThat(callsIn(loop, calls)).as("before %d ms", pause).isZero();
                clock.advance(Duration.ofMillis(1));
                assertThat(callsIn(loop, calls)).as("after %d ms", pause).isOne();
                pause = Math.min(1000, 2 * pause);
            }
            // New readiness does not wait for that; and it does not make another wait of its own.
            source.ready();
            assertThat(callsIn(loop, calls)).isOne();
            bad.set(false);
            clock.advance(Duration.ofMillis(pause));
            assertThat(callsIn(loop, calls)).isOne();
            clock.advance(Duration.ofSeconds(10));
            assertThat(callsIn(loop, calls)).as("it did not throw").isZero();
            // After one that went well it begins with a short pause again.
            bad.set(true);
            source.ready();
            assertThat(callsIn(loop, calls)).isOne();
            clock.advance(Duration.ofMillis(1));
            assertThat(callsIn(loop, calls)).isOne();
            loop.deregister(1);
            clock.advance(Duration.ofSeconds(10));
            assertThat(callsIn(loop, calls)).isZero();
        }
    }

    /** How many calls all the turns make that the loop has to do by now. */
    private static int callsIn(EventLoop loop, AtomicInteger calls) {
        calls.set(0);
        for (int i = 0; i < 8; i++) {
            loop.runOnce(Duration.ZERO);
        }
        return calls.get();
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("mio-23, mill-13: a timer is refused where handlers run off the loop, with what to use instead")
    void timersNeedTheLoop(Dispatch mode) {
        try (EventLoop loop = EventLoop.builder()
                        .workers(1)
                        .dispatch(mode)
                        .withoutWatchdog()
                        .open();
                Timer<String> timer = Timer.create()) {
            EventHandler handler = (on, token, ready) -> {};
            if (mode == Dispatch.LOOP) {
                loop.register(timer, 1, Interest.READABLE, handler);
            } else {
                Source wrapped = () -> timer.handle();
                assertThatThrownBy(() -> loop.register(wrapped, 1, Interest.READABLE, handler))
                        .isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> loop.register(timer, 1, Interest.READABLE, handler))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("Dispatch.LOOP")
                        .hasMessageContaining("schedule");
                assertThat(loop.toString()).contains("0 sources");
            }
        }
    }

    @Test
    @DisplayName("grpc-17, mr-11: an alarm of a loop may have normal priority by default, and may repeat")
    void alarmsThatRepeat() {
        ManualClock clock = new ManualClock();
        List<String> told = new ArrayList<>();
        EventLoop loop = EventLoop.builder()
                .dispatch(Dispatch.LOOP)
                .workers(1)
                .clock(clock)
                .withoutWatchdog()
                .open();
        try (loop) {
            loop.schedule(Duration.ofMillis(15), fired -> told.add("once " + fired));
            AlarmKey every = loop.scheduleEvery(
                    Duration.ofMillis(10), Duration.ofMillis(10), fired -> told.add("every " + fired), Priority.NORMAL);
            for (int i = 0; i < 3; i++) {
                clock.advance(Duration.ofMillis(10));
                loop.runOnce(Duration.ZERO);
                loop.runOnce(Duration.ZERO);
            }
            assertThat(loop.cancel(every)).isEqualTo(CancelResult.CANCELLED);
            assertThatThrownBy(() -> loop.scheduleEvery(Duration.ZERO, Duration.ZERO, fired -> {}, Priority.NORMAL))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(told).containsExactly("every true", "once true", "every true", "every true", "every false");
    }

    @Test
    @DisplayName("mill-2: a token that is taken is refused, and nothing changes")
    void duplicateToken() {
        try (EventLoop loop = EventLoop.open()) {
            loop.register(new Soft(), 7, Interest.READABLE, (l, token, ready) -> {});
            Soft second = new Soft();
            assertThatThrownBy(() -> loop.register(second, 7, Interest.READABLE, (l, token, ready) -> {}))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("token 7 is taken");
            loop.register(second, 8, Interest.READABLE, (l, token, ready) -> {});
            loop.deregister(7);
            assertThatThrownBy(() -> loop.deregister(7)).isInstanceOf(IllegalStateException.class);
            loop.register(new Soft(), 7, Interest.READABLE, (l, token, ready) -> {});
        }
    }

    @Test
    @DisplayName(
            "mill-2: sources that come and go under many threads get their own calls, and none after they have gone")
    void churn() throws Exception {
        AtomicInteger wrong = new AtomicInteger();
        try (Running running = new Running(EventLoop.builder().workers(2).dispatch(Dispatch.LOOP))) {
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                long base = t * 1_000_000L;
                threads.add(Thread.ofPlatform().start(() -> {
                    for (int i = 0; i < 2_000; i++) {
                        long token = base + i;
                        Soft soft = new Soft();
                        CountDownLatch called = new CountDownLatch(1);
                        running.loop.register(soft, token, Interest.READABLE, (loop, got, ready) -> {
                            if (got != token) {
                                wrong.incrementAndGet();
                            }
                            called.countDown();
                        });
                        soft.ready();
                        Uninterruptibly.await(called);
                        running.loop.deregister(token);
                        soft.registration.close();
                    }
                }));
            }
            for (Thread thread : threads) {
                assertThat(thread.join(Duration.ofSeconds(40))).isTrue();
            }
            assertThat(running.loop.metrics().sources()).isZero();
        }
        assertThat(wrong.get()).isZero();
    }

    @Test
    @DisplayName("mill-1: stop before run is honoured, stop takes effect at once, and it runs again")
    void stopping() throws Exception {
        try (EventLoop loop = EventLoop.builder()
                .pollTimeout(Duration.ofDays(1))
                .tick(() -> {})
                .open()) {
            loop.stop();
            loop.run();
            for (int i = 0; i < 3; i++) {
                CompletableFuture<Void> inside = new CompletableFuture<>();
                loop.execute(() -> inside.complete(null));
                Thread runner = Thread.ofPlatform().start(loop::run);
                inside.get(10, TimeUnit.SECONDS);
                assertThatThrownBy(loop::run).isInstanceOf(IllegalStateException.class);
                loop.stop();
                assertThat(runner.join(Duration.ofSeconds(10))).isTrue();
            }
        }
    }

    @Test
    @DisplayName("mill-1: bad values are refused with a reason")
    void badValues() {
        EventLoop.Builder builder = EventLoop.builder();
        assertThatThrownBy(() -> builder.workers(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.workers(1025)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.eventCapacity(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.pollTimeout(Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.budget(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.spin(Duration.ofNanos(-1))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("mr-11: a thread of the user's drives it turn by turn, and is in the loop meanwhile")
    void driven() throws Exception {
        try (EventLoop loop =
                EventLoop.builder().dispatch(Dispatch.POOL).workers(1).open()) {
            assertThat(loop.inLoop()).isFalse();
            List<Boolean> inLoop = new ArrayList<>();
            loop.execute(() -> inLoop.add(loop.inLoop()));
            assertThat(loop.runOnce(Duration.ZERO)).isEqualTo(1);
            assertThat(inLoop).containsExactly(true);
            CompletableFuture<Void> later = loop.after(Duration.ofMillis(1)).thenRun(() -> inLoop.add(loop.inLoop()));
            while (!later.isDone()) {
                loop.runOnce(Duration.ofSeconds(10));
            }
            assertThat(inLoop).containsExactly(true, true);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("mio-29: a hang-up that nobody asked for does not keep it busy, and is told when asked for")
    void aHangUpOutsideTheInterest(String backend) throws Exception {
        AtomicInteger calls = new AtomicInteger();
        try (TcpListener listener = net(backend).listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                EventLoop loop = EventLoop.builder()
                        .backend(backend)
                        .dispatch(Dispatch.LOOP)
                        .workers(1)
                        .open();
                Socket client = new Socket(
                        InetAddress.getLoopbackAddress(),
                        listener.localAddress().getPort());
                TcpStream stream = await().until(listener::accept, Objects::nonNull)) {
            // Both directions are shut, and the kernel says so, asked or not.
            client.shutdownOutput();
            stream.shutdownOutput();
            loop.register(
                    stream,
                    1,
                    Interest.READABLE,
                    Trigger.LEVEL,
                    Priority.NORMAL,
                    (self, token, ready) -> calls.incrementAndGet());
            while (calls.get() == 0) {
                loop.runOnce(Duration.ofSeconds(10));
            }

            loop.reregister(1, Interest.PRIORITY, Trigger.LEVEL);
            // In which it hears of it once, and once more because it asked the kernel to be silent.
            loop.runOnce(Duration.ofMillis(1));
            loop.runOnce(Duration.ofMillis(1));
            int before = calls.get();
            long start = System.nanoTime();
            for (int i = 0; i < 3; i++) {
                loop.runOnce(Duration.ofMillis(20));
            }
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(60_000_000);
            assertThat(calls.get()).isEqualTo(before);

            loop.reregister(1, Interest.READABLE, Trigger.LEVEL);
            loop.runOnce(Duration.ofSeconds(10));
            assertThat(calls.get()).isEqualTo(before + 1);
        }
    }

    @Test
    @DisplayName("mr-11, mill-12: what comes after the close is refused, and what waits is told")
    void closed() {
        EventLoop loop = EventLoop.open();
        CompletableFuture<?> never = loop.after(Duration.ofDays(1));
        loop.close();
        loop.close();
        assertThatThrownBy(never::get).isInstanceOf(CancellationException.class);
        assertThatThrownBy(() -> loop.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        assertThatThrownBy(() -> loop.runOnce(Duration.ZERO)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> loop.register(new Soft(), 1, Interest.READABLE, (l, token, ready) -> {}))
                .isInstanceOf(IllegalStateException.class);
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("mill-12: it can be closed from inside a handler, and ends")
    void closedFromInside(Dispatch mode) throws Exception {
        EventLoop loop = EventLoop.builder().workers(2).dispatch(mode).open();
        Soft soft = new Soft();
        CountDownLatch closed = new CountDownLatch(1);
        loop.register(soft, 1, Interest.READABLE, (l, token, ready) -> {
            l.close();
            closed.countDown();
        });
        soft.ready();
        Thread runner = Thread.ofPlatform().start(loop::run);
        assertThat(closed.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(runner.join(Duration.ofSeconds(10))).isTrue();
    }

    @Test
    @DisplayName("mill-5: a compute pool whose threads are all blocked does not delay a source")
    void blockedComputePool() throws Exception {
        try (Running running = new Running(EventLoop.builder().workers(2).dispatch(Dispatch.LOOP))) {
            CountDownLatch release = new CountDownLatch(1);
            for (int i = 0; i < 8; i++) {
                var ignored = running.loop.compute().submit(() -> Uninterruptibly.await(release), Priority.NORMAL);
            }
            CountDownLatch called = new CountDownLatch(1);
            Soft soft = new Soft();
            running.loop.register(soft, 1, Interest.READABLE, (loop, token, ready) -> called.countDown());
            soft.ready();
            assertThat(called.await(10, TimeUnit.SECONDS)).isTrue();
            release.countDown();
        }
    }

    private static boolean isThere(String thread) {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(each -> each.getName().startsWith(thread));
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("end-2, mill-12: a loop that has ended leaves no thread behind: workers, compute pool or watchdog")
    void noThreads(Dispatch mode) throws Exception {
        EventLoop loop =
                EventLoop.builder().workers(2).dispatch(mode).name("ended-loop").open();
        Thread runs = Thread.ofPlatform().name("ended-loop-runs").start(loop::run);
        loop.compute().submit(() -> {}).get(10, TimeUnit.SECONDS);
        assertThat(isThere("ended-loop")).isTrue();
        assertThat(loop.shutdown(Duration.ofMinutes(1))).isEmpty();
        runs.join();
        await().until(() -> !isThere("ended-loop"));
    }

    @Test
    @DisplayName("end-3: of several deadlines the earliest counts, for the pool too that the end comes to last")
    void theEarliestDeadline() throws Exception {
        CountDownLatch entered = new CountDownLatch(2);
        CountDownLatch loopOpen = new CountDownLatch(1);
        CountDownLatch poolOpen = new CountDownLatch(1);
        EventLoop loop = EventLoop.builder().workers(1).name("test").open();
        try {
            Thread.ofPlatform().daemon().start(loop::run);
            loop.execute(() -> {
                entered.countDown();
                Uninterruptibly.await(loopOpen);
            });
            loop.compute().execute(() -> {
                entered.countDown();
                Uninterruptibly.await(poolOpen);
            });
            assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();
            CompletableFuture<List<String>> patient = new CompletableFuture<>();
            Thread.ofPlatform().daemon().start(() -> patient.complete(loop.shutdown(Duration.ofMinutes(5))));
            await().untilAsserted(
                            () -> assertThatThrownBy(loop::compute).isInstanceOf(RejectedExecutionException.class));
            assertThat(loop.shutdown(Duration.ofMillis(20))).isNotEmpty();
            loopOpen.countDown();
            assertThat(patient.get(20, TimeUnit.SECONDS))
                    .singleElement()
                    .asString()
                    .contains("compute pool");
        } finally {
            loopOpen.countDown();
            poolOpen.countDown();
        }
    }

    @Test
    @DisplayName("end-1: one of several loops that fails itself stops all of them, and run says why")
    void oneOfSeveralFails() throws Exception {
        AtomicInteger looks = new AtomicInteger(Integer.MIN_VALUE);
        Clock failing = new Clock() {
            @Override
            public long nanoTime() {
                // The second look: the first one is taken before its first turn.
                if (Thread.currentThread().getName().equals("failing-1") && looks.getAndIncrement() >= 0) {
                    throw new IllegalStateException("meant so");
                }
                return System.nanoTime();
            }

            @Override
            public Runnable subscribe(Runnable onJump) {
                return () -> {};
            }
        };
        EventLoop loop = EventLoop.builder()
                .dispatch(Dispatch.LOOP)
                .workers(2)
                .clock(failing)
                .withoutWatchdog()
                .name("failing")
                .open();
        Soft first = new Soft();
        Soft second = new Soft();
        CountDownLatch called = new CountDownLatch(2);
        loop.register(first, 1, Interest.READABLE, (same, token, ready) -> called.countDown());
        loop.register(second, 2, Interest.READABLE, (same, token, ready) -> called.countDown());
        CompletableFuture<Void> ran = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                loop.run();
                ran.complete(null);
            } catch (Throwable e) {
                ran.completeExceptionally(e);
            }
        });
        first.ready();
        second.ready();
        assertThat(called.await(10, TimeUnit.SECONDS)).isTrue();
        looks.set(0);
        first.ready();
        second.ready();
        assertThatThrownBy(() -> ran.get(10, TimeUnit.SECONDS)).hasRootCauseMessage("meant so");
        loop.close();
    }

    // ---- Ending ----

    private static CompletableFuture<List<String>> shutdown(EventLoop loop, Duration atMost) {
        CompletableFuture<List<String>> end = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> end.complete(loop.shutdown(atMost)));
        return end;
    }

    @ParameterizedTest
    @ValueSource(strings = {"a task", "an alarm", "a stage"})
    @DisplayName(
            "end-3: a loop that nobody runs is shut down by the deadline, though something in its last turn does not"
                    + " return; that is named until it does")
    void endsThoughNobodyRunsIt(String what) throws Exception {
        EventLoop loop = EventLoop.builder().withoutWatchdog().open();
        CountDownLatch open = new CountDownLatch(1);
        switch (what) {
            case "a task" -> loop.execute(() -> Uninterruptibly.await(open));
            case "an alarm" -> loop.schedule(Duration.ofDays(1), fired -> Uninterruptibly.await(open), Priority.NORMAL);
            default -> {
                var ignored =
                        loop.after(Duration.ofDays(1)).whenComplete((nothing, failure) -> Uninterruptibly.await(open));
            }
        }
        try {
            assertThat(shutdown(loop, Duration.ofMillis(20)).get(20, TimeUnit.SECONDS))
                    .anyMatch(line -> line.contains("millrace-loop-0 is in"));
        } finally {
            open.countDown();
        }
        await().until(() -> loop.shutdown(Duration.ZERO).isEmpty());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    @DisplayName("end-3: a loop that a handler holds does not keep the alarms of another loop from being told the end")
    void alarmsOfTheFreeLoop(int held) throws Exception {
        CountDownLatch open = new CountDownLatch(1);
        CountDownLatch entered = new CountDownLatch(2);
        CompletableFuture<Boolean> told = new CompletableFuture<>();
        EventLoop loop = EventLoop.builder()
                .workers(2)
                .dispatch(Dispatch.LOOP)
                .withoutWatchdog()
                .open();
        List<Soft> sources = List.of(new Soft(), new Soft());
        for (int i = 0; i < 2; i++) {
            boolean blocks = i == held;
            loop.register(sources.get(i), i, Interest.READABLE, (l, token, ready) -> {
                if (!blocks) {
                    l.schedule(Duration.ofDays(1), told::complete, Priority.NORMAL);
                }
                entered.countDown();
                if (blocks) {
                    Uninterruptibly.await(open);
                }
            });
        }
        Thread runner = Thread.ofPlatform().start(loop::run);
        try {
            sources.forEach(Soft::ready);
            assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(shutdown(loop, Duration.ofMillis(20)).get(20, TimeUnit.SECONDS))
                    .anyMatch(line -> line.contains("handler"));
            assertThat(told.get(20, TimeUnit.SECONDS)).isFalse();
        } finally {
            open.countDown();
        }
        assertThat(runner.join(Duration.ofSeconds(10))).isTrue();
        assertThat(loop.shutdown(Duration.ZERO)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = Dispatch.class,
            names = {"POOL", "VIRTUAL"})
    @DisplayName("end-3: a handler and a task that have returned since are not named any more")
    void namedUntilTheyReturn(Dispatch mode) throws Exception {
        CountDownLatch open = new CountDownLatch(1);
        CountDownLatch entered = new CountDownLatch(2);
        EventLoop loop = EventLoop.builder().dispatch(mode).withoutWatchdog().open();
        Thread runner = Thread.ofPlatform().start(loop::run);
        try {
            Soft soft = new Soft();
            loop.register(soft, 1, Interest.READABLE, (l, token, ready) -> {
                entered.countDown();
                Uninterruptibly.await(open);
            });
            soft.ready();
            loop.compute().execute(() -> {
                entered.countDown();
                Uninterruptibly.await(open);
            });
            assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();
            loop.shutdown(Duration.ofMillis(20));
            assertThat(runner.join(Duration.ofSeconds(10))).isTrue();
            assertThat(loop.shutdown(Duration.ZERO))
                    .anyMatch(line -> line.contains("handler"))
                    .anyMatch(line -> line.contains("compute pool"));
        } finally {
            open.countDown();
        }
        await().until(() -> loop.shutdown(Duration.ZERO).isEmpty());
    }

    @Test
    @DisplayName("mill-12: what is refused after the close is told what a loop's user can do about it")
    void refusalsAfterTheClose() {
        EventLoop loop = EventLoop.builder().name("mine").open();
        loop.close();
        assertThatThrownBy(() -> loop.execute(() -> {}))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessageContaining("mine is closed")
                .hasMessageNotContaining("shutdownRef");
        assertThatThrownBy(() -> loop.schedule(Duration.ZERO, fired -> {}, Priority.NORMAL))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessageContaining("mine is closed");
    }

    @Test
    @DisplayName("mill-1: a builder that is used again does not change the loop that it has opened")
    void builderUsedAgain() {
        EventLoop.Builder builder = EventLoop.builder().workers(1);
        try (EventLoop loop = builder.open()) {
            builder.workers(3);
            assertThat(loop.compute().threads()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Dispatch.class,
            names = {"POOL", "VIRTUAL"})
    @DisplayName("end-3: a later shutdown names handlers that have not returned and nothing else, and waits for them")
    void namesWhatHasNotReturned(Dispatch mode) throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch taskRan = new CountDownLatch(1);
        try (EventLoop loop =
                EventLoop.builder().dispatch(mode).withoutWatchdog().open()) {
            Channel<String> channel = Channel.unbounded();
            loop.register(channel, 1, Interest.READABLE, (same, token, readiness) -> {
                called.countDown();
                gate.await();
            });
            channel.send("go");
            loop.runOnce(Duration.ofSeconds(10));
            assertThat(called.await(10, TimeUnit.SECONDS)).isTrue();
            loop.execute(taskRan::countDown); // in the last turn, as nobody runs the loop
            assertThat(loop.shutdown(Duration.ZERO)).isNotEmpty();
            assertThat(taskRan.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(loop.shutdown(Duration.ZERO)).singleElement().asString().startsWith("in flight: handler");

            CompletableFuture<List<String>> left = new CompletableFuture<>();
            Thread waiting = Thread.ofPlatform().start(() -> left.complete(loop.shutdown(Duration.ofSeconds(20))));
            await().until(() -> waiting.getState() == Thread.State.TIMED_WAITING || left.isDone());
            gate.countDown();
            assertThat(left.get(10, TimeUnit.SECONDS)).isEmpty();
        } finally {
            gate.countDown();
        }
    }
}
