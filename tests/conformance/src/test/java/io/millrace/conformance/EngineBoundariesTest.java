package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.Dispatch;
import io.millrace.engine.EventHandler;
import io.millrace.engine.EventLoop;
import io.millrace.engine.Priority;
import io.millrace.engine.Reactors;
import io.millrace.engine.pool.ComputePool;
import io.millrace.engine.pool.ObjectPool;
import io.millrace.poll.Interest;
import io.millrace.poll.ManualClock;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.testkit.Await;
import io.millrace.testkit.Background;
import io.millrace.testkit.Reports;
import io.millrace.testkit.Thrown;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("Boundaries of loops and pools")
@Timeout(60)
class EngineBoundariesTest {
    /** For a look at one alone: {@code -Dmillrace.kinds=CHECKED}. */
    private static final String KINDS = System.getProperty("millrace.kinds", "");

    private Reports reports;

    @BeforeEach
    void listen() {
        reports = new Reports();
    }

    @AfterEach
    void stopListening() {
        reports.close();
    }

    private void awaitReports(int count) {
        Await.until(count + " reports, not " + reports.lines(), () -> reports.count() >= count);
    }

    /**
     * A handler whose every call throws, and whose name cannot be asked for. After a handler has thrown, a loop may show it its source once more, though it is no longer
     * ready: such calls do not count.
     */
    private static final class Hostile implements EventHandler {
        private final Thrown thrown;
        private final Registration source;
        private final boolean rethrows;
        private volatile boolean foundReady;
        /** How many calls that found the source ready threw, and were told. */
        private final AtomicInteger errors = new AtomicInteger();

        Hostile(Thrown thrown, Registration source, boolean rethrows) {
            this.thrown = thrown;
            this.source = source;
            this.rethrows = rethrows;
        }

        @Override
        public void ready(EventLoop loop, long token, Readiness readiness) {
            foundReady = source.readiness().isReadable();
            source.unsetReadiness(Readiness.READABLE);
            thrown.raise();
        }

        @Override
        public void onError(EventLoop loop, long token, Throwable failure) {
            if (foundReady) {
                errors.incrementAndGet();
            }
            Thrown.<RuntimeException>sneak(rethrows ? failure : thrown.get());
        }

        @Override
        public String toString() {
            throw new IllegalStateException("thrown by the toString of a test");
        }
    }

    static Stream<Thrown> kinds() {
        return Stream.of(Thrown.values()).filter(thrown -> thrown.name().startsWith(KINDS));
    }

    static Stream<Arguments> handlers() {
        return Stream.of(Dispatch.values())
                .flatMap(mode -> kinds().flatMap(thrown ->
                        Stream.of(true, false).map(rethrows -> Arguments.of(mode, thrown, rethrows))));
    }

    @ParameterizedTest(name = "{0} {1}, onError rethrows: {2}")
    @MethodSource("handlers")
    @DisplayName("end-1, mill-4: a loop's handler and its onError may throw anything, the same again too")
    void handler(Dispatch dispatch, Thrown thrown, boolean rethrows) {
        try (EventLoop loop = EventLoop.builder()
                        .dispatch(dispatch)
                        .workers(1)
                        .name("tested")
                        .open();
                Registration source = new Registration();
                Registration other = new Registration()) {
            Hostile hostile = new Hostile(thrown, source, rethrows);
            AtomicInteger others = new AtomicInteger();
            loop.register(source, 1, Interest.READABLE, hostile);
            loop.register(other, 2, Interest.READABLE, (on, token, readiness) -> {
                other.unsetReadiness(Readiness.READABLE);
                others.incrementAndGet();
            });
            Background<Boolean> running = Background.run(loop::run);
            for (int i = 1; i <= 3; i++) {
                int times = i;
                source.setReadiness(Readiness.READABLE);
                Await.until("called again", () -> hostile.errors.get() == times);
                other.setReadiness(Readiness.READABLE);
                Await.until("so is the other", () -> others.get() >= times);
            }
            awaitReports(3);
            loop.stop();
            running.result();
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    @DisplayName("end-1: a loop's tick, tasks and alarms may throw anything")
    void tick(Thrown thrown) {
        AtomicInteger ticks = new AtomicInteger();
        try (EventLoop loop = EventLoop.builder()
                .dispatch(Dispatch.LOOP)
                .workers(1)
                .name("tested")
                .tick(() -> {
                    ticks.incrementAndGet();
                    thrown.raise();
                })
                .open()) {
            Background<Boolean> running = Background.run(loop::run);
            loop.execute(thrown::raise);
            loop.schedule(Duration.ZERO, fired -> thrown.raise(), Priority.HIGH);
            awaitReports(3);
            AtomicInteger ran = new AtomicInteger();
            loop.execute(ran::incrementAndGet);
            int before = ticks.get();
            Await.until("it goes on", () -> ran.get() == 1 && ticks.get() > before);
            loop.stop();
            running.result();
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    @DisplayName(
            "end-1, mill-5: a pool's task gives what it throws to its future, or is reported; stages may throw too")
    void computeTask(Thrown thrown) throws Exception {
        try (ComputePool pool = ComputePool.builder().threads(1).name("tested").open()) {
            CompletableFuture<Void> failed = pool.submit(thrown::raise);
            assertThatThrownBy(failed::get).isInstanceOf(ExecutionException.class);
            CountDownLatch before = new CountDownLatch(1);
            CompletableFuture<Integer> task = pool.submit(() -> {
                before.await();
                return 1;
            });
            CompletableFuture<Object> stage = task.thenApply(one -> {
                thrown.raise();
                return one;
            });
            before.countDown();
            Await.until("the stage has failed", stage::isCompletedExceptionally);
            assertThat(reports.count()).as("both futures know").isZero();
            pool.execute(thrown::raise);
            awaitReports(1);
            CompletableFuture<Integer> refused = pool.submit(() -> 1, Priority.NORMAL, what -> thrown.raise());
            Await.until("not open for ever", refused::isCompletedExceptionally);
            assertThat(pool.submit(() -> 2).get()).isEqualTo(2);
        }
        Clocks.awaitNoThread("tested");
    }

    @ParameterizedTest
    @MethodSource("kinds")
    @DisplayName("end-1, mill-6: a pool's hooks may throw anything, and closing throws nothing")
    void hooks(Thrown thrown) {
        ObjectPool<Object> pool = ObjectPool.<Object>builder(Object::new)
                .reset(object -> thrown.raise())
                .destroy(object -> thrown.raise())
                .onError(failure -> Thrown.<RuntimeException>sneak(failure))
                .open();
        assertThatCode(() -> pool.acquire().close()).doesNotThrowAnyException();
        assertThatCode(pool::close).doesNotThrowAnyException();
        awaitReports(2);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    @DisplayName("end-1, mr-1: the watchdog's callback may throw anything, and is called at the next blocked turn")
    void watchdog(Thrown thrown) throws Exception {
        ManualClock clock = new ManualClock();
        AtomicInteger told = new AtomicInteger();
        try (Reactors manager = Reactors.builder()
                .reactors(1)
                .name("tested")
                .clock(clock)
                .watchdog(Duration.ofMillis(100), blocked -> {
                    told.incrementAndGet();
                    thrown.raise();
                })
                .open()) {
            for (int i = 1; i <= 3; i++) {
                int times = i;
                CountDownLatch entered = new CountDownLatch(1);
                CountDownLatch open = new CountDownLatch(1);
                manager.execute(() -> {
                    entered.countDown();
                    try {
                        open.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                });
                entered.await();
                Await.until("told " + times + " times", () -> {
                    clock.advance(Duration.ofMillis(200));
                    return told.get() >= times;
                });
                open.countDown();
            }
            awaitReports(3);
        }
    }
}
