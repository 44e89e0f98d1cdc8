package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.net.Net;
import io.millrace.net.Pipe;
import io.millrace.poll.ManualClock;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("The manager that Millrace brings")
@Timeout(30)
class ReactorsTest {
    private final ManualClock clock = new ManualClock();

    private Reactors one() {
        return Reactors.builder().reactors(1).clock(clock).withoutWatchdog().open();
    }

    /** Blocks the only reactor, so that what is handed over meanwhile is one snapshot. */
    private static final class Gate implements AutoCloseable {
        private final CountDownLatch open = new CountDownLatch(1);

        Gate(EventManager manager) throws Exception {
            CountDownLatch entered = new CountDownLatch(1);
            manager.execute(() -> {
                entered.countDown();
                awaitQuietly(open);
            });
            assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();
        }

        void isClosed() {
            assertThat(open.getCount()).isEqualTo(1);
        }

        @Override
        public void close() {
            open.countDown();
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @DisplayName("grpc-2: within a snapshot the higher class runs first, and within a class what came first")
    void strictWithinASnapshot() throws Exception {
        List<String> order = new ArrayList<>();
        try (Reactors manager = one()) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            try (Gate gate = new Gate(manager)) {
                gate.isClosed();
                for (Priority priority : Priority.values()) {
                    manager.run(() -> order.add(priority + "-1"), priority);
                    manager.run(() -> order.add(priority + "-2"), priority);
                }
                manager.run(() -> done.complete(null), Priority.LOW);
            }
            done.get(10, TimeUnit.SECONDS);
        }
        assertThat(order)
                .containsExactly(
                        "SYSTEM-1",
                        "SYSTEM-2",
                        "IMMEDIATE-1",
                        "IMMEDIATE-2",
                        "HIGH-1",
                        "HIGH-2",
                        "NORMAL-1",
                        "NORMAL-2",
                        "LOW-1",
                        "LOW-2");
    }

    @Test
    @DisplayName("grpc-2: what is queued during a turn waits for the next, even if it is more urgent than what is left")
    void queuedDuringATurnWaits() throws Exception {
        List<String> order = new ArrayList<>();
        try (Reactors manager = one()) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            try (Gate gate = new Gate(manager)) {
                gate.isClosed();
                manager.run(
                        () -> {
                            order.add("normal");
                            manager.run(() -> order.add("system, later"), Priority.SYSTEM);
                            manager.run(() -> done.complete(null), Priority.SYSTEM);
                        },
                        Priority.NORMAL);
                manager.run(() -> order.add("low"), Priority.LOW);
            }
            done.get(10, TimeUnit.SECONDS);
        }
        assertThat(order).containsExactly("normal", "low", "system, later");
    }

    @Test
    @DisplayName(
            "grpc-2: a LOW item runs although HIGH work never ends, and after the turns that its place and the budget"
                    + " say")
    void lowIsNotStarved() throws Exception {
        int budget = 4;
        AtomicInteger highRuns = new AtomicInteger();
        AtomicBoolean stop = new AtomicBoolean();
        try (Reactors manager = Reactors.builder()
                .reactors(1)
                .clock(clock)
                .budget(budget)
                .withoutWatchdog()
                .open()) {
            CompletableFuture<Integer> low = new CompletableFuture<>();
            try (Gate gate = new Gate(manager)) {
                gate.isClosed();
                for (int i = 0; i < 100; i++) {
                    manager.run(
                            new Runnable() {
                                @Override
                                public void run() {
                                    highRuns.incrementAndGet();
                                    if (!stop.get()) {
                                        manager.run(this, Priority.HIGH);
                                    }
                                }
                            },
                            Priority.HIGH);
                }
                // The sixth of its class: the second turn with a budget of 4.
                for (int i = 0; i < 5; i++) {
                    manager.run(() -> {}, Priority.LOW);
                }
                manager.run(() -> low.complete(highRuns.get()), Priority.LOW);
            }
            assertThat(low.get(10, TimeUnit.SECONDS)).isEqualTo(2 * budget);
            stop.set(true);
        }
    }

    @Test
    @DisplayName("grpc-2: what the budget cut off runs before what came later, I/O and alarms included")
    void leftOverGoesFirst() throws Exception {
        List<String> order = new ArrayList<>();
        try (Reactors manager = Reactors.builder()
                .reactors(1)
                .clock(clock)
                .budget(2)
                .withoutWatchdog()
                .open()) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            try (Gate gate = new Gate(manager)) {
                gate.isClosed();
                manager.execute(() -> {
                    order.add("task 1");
                    // In the wheel now, due in the next turn; its class is that of the tasks.
                    manager.schedule(Duration.ZERO, fired -> order.add("alarm"), Priority.NORMAL);
                });
                for (int i = 2; i <= 4; i++) {
                    int number = i;
                    manager.execute(() -> order.add("task " + number));
                }
                manager.run(() -> {}, Priority.LOW);
            }
            manager.run(() -> manager.run(() -> done.complete(null), Priority.LOW), Priority.LOW);
            done.get(10, TimeUnit.SECONDS);
            manager.cancelAndWait(manager.run(() -> {}, Priority.LOW));
        }
        assertThat(order).containsExactly("task 1", "task 2", "task 3", "task 4", "alarm");
    }

    @Test
    @DisplayName("grpc-3, grpc-17: an alarm is never early, and a past one runs in the next turn")
    void alarmsAreNeverEarly() throws Exception {
        try (Reactors manager = one()) {
            LinkedBlockingQueue<Long> fired = new LinkedBlockingQueue<>();
            manager.schedule(Duration.ofNanos(1_500_000), yes -> fired.add(clock.nanoTime()));
            manager.schedule(-5, yes -> fired.add(-1L), Priority.NORMAL);
            assertThat(fired.poll(10, TimeUnit.SECONDS)).isEqualTo(-1L);
            clock.advance(Duration.ofNanos(1_499_999));
            barrier(manager);
            assertThat(fired).isEmpty();
            clock.advance(Duration.ofNanos(500_001));
            assertThat(fired.poll(10, TimeUnit.SECONDS)).isEqualTo(2_000_000L);
        }
    }

    /** Returns after the reactor has made a whole turn. */
    private static void barrier(EventManager manager) throws Exception {
        for (int i = 0; i < 3; i++) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            manager.run(() -> done.complete(null), Priority.LOW);
            done.get(10, TimeUnit.SECONDS);
        }
    }

    @Test
    @DisplayName("grpc-4: a hundred alarms inside one slack cost a few kernel waits, and each is in its window")
    void slackCoalesces() throws Exception {
        try (Reactors manager = Reactors.builder().reactors(1).withoutWatchdog().open()) {
            CountDownLatch fired = new CountDownLatch(100);
            AtomicInteger early = new AtomicInteger();
            long base = manager.clock().nanoTime() + 50_000_000;
            CompletableFuture<Long> before = new CompletableFuture<>();
            manager.execute(() -> {
                for (int i = 0; i < 100; i++) {
                    long deadline = base + i * 1_000_000L;
                    manager.schedule(
                            deadline,
                            Duration.ofMillis(200),
                            yes -> {
                                if (manager.clock().nanoTime() - deadline < 0) {
                                    early.incrementAndGet();
                                }
                                fired.countDown();
                            },
                            Priority.NORMAL);
                }
                before.complete(manager.metrics().waits());
            });
            long waits = before.get(10, TimeUnit.SECONDS);
            assertThat(fired.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(manager.metrics().waits() - waits).isLessThanOrEqualTo(4);
            assertThat(early.get()).isZero();
        }
    }

    @Test
    @DisplayName("grpc-11: what the kernel reports, and what was ready already, runs by the priority of its direction")
    void directionsHavePriorities() throws Exception {
        List<String> order = new ArrayList<>();
        try (Reactors reactors = one();
                Pipe first = Net.natively().pipe();
                Pipe second = Net.natively().pipe()) {
            ReadinessDescriptor low = reactors.register(first.source());
            ReadinessDescriptor high = reactors.register(second.source());
            low.setReadPriority(Priority.LOW);
            high.setReadPriority(Priority.HIGH);
            for (boolean readyAlready : new boolean[] {false, true}) {
                CountDownLatch both = new CountDownLatch(2);
                try (Gate gate = new Gate(reactors)) {
                    gate.isClosed();
                    if (!readyAlready) {
                        notify(low, "low", order, both);
                        notify(high, "high", order, both);
                    }
                    first.sink().tryWrite(ByteBuffer.wrap(new byte[1]));
                    second.sink().tryWrite(ByteBuffer.wrap(new byte[1]));
                }
                if (readyAlready) {
                    turns(reactors); // the reports of the kernel are kept
                    try (Gate gate = new Gate(reactors)) {
                        gate.isClosed();
                        notify(low, "low", order, both);
                        notify(high, "high", order, both);
                    }
                }
                assertThat(both.await(10, TimeUnit.SECONDS)).isTrue();
                assertThat(order).as("ready already: " + readyAlready).containsExactly("high", "low");
                order.clear();
            }
            low.release();
            high.release();
        }
    }

    private static void notify(ReadinessDescriptor descriptor, String name, List<String> order, CountDownLatch told) {
        descriptor.notifyWhenReadable(() -> {
            order.add(name);
            told.countDown();
        });
    }

    /** A few turns, each of which looks at the kernel. */
    private static void turns(Reactors reactors) throws Exception {
        for (int i = 0; i < 4; i++) {
            CompletableFuture<Void> turned = new CompletableFuture<>();
            reactors.execute(() -> turned.complete(null));
            turned.get(10, TimeUnit.SECONDS);
        }
    }

    @Test
    @DisplayName("grpc-17: a time that is served late does not shift those that follow")
    void aLateTimeDoesNotShiftTheNext() throws Exception {
        try (Reactors reactors = one()) {
            Semaphore fired = new Semaphore(0);
            reactors.scheduleEvery(
                    Duration.ofSeconds(1), Duration.ofSeconds(1), on -> fired.release(), Priority.NORMAL);
            turns(reactors);
            clock.advance(Duration.ofMillis(1_600)); // for 1 s
            assertThat(fired.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
            turns(reactors);

            clock.advance(Duration.ofMillis(500)); // 2.1 s: for 2 s, and not for 2.6 s

            assertThat(fired.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    @DisplayName("grpc-6, end-7: a cancelled alarm leaves the wheel, whichever thread cancels it")
    void cancelledAlarmsLeave() throws Exception {
        try (Reactors reactors = one()) {
            for (int i = 0; i < 20; i++) {
                AlarmKey key = reactors.schedule(Duration.ofDays(1), on -> {}, Priority.NORMAL);
                turns(reactors); // it is in the wheel
                if (i % 2 == 0) {
                    assertThat(reactors.cancel(key)).isEqualTo(CancelResult.CANCELLED);
                } else {
                    reactors.execute(() -> reactors.cancel(key));
                }
            }
            turns(reactors);

            assertThat(reactors.metrics().alarmsPending()).isZero();
        }
    }

    @Test
    @DisplayName("grpc-6: a cancelled alarm's callback runs once with false, on the thread that cancelled")
    void cancelRunsFalseHere() {
        try (Reactors manager = one()) {
            List<String> calls = new ArrayList<>();
            AlarmKey key = manager.schedule(
                    Duration.ofHours(1),
                    fired -> calls.add(fired + " on " + Thread.currentThread().getName()));
            assertThat(manager.cancel(key)).isEqualTo(CancelResult.CANCELLED);
            assertThat(manager.cancel(key)).isEqualTo(CancelResult.DONE);
            assertThat(calls)
                    .containsExactly("false on " + Thread.currentThread().getName());
        }
    }

    @Test
    @DisplayName("grpc-8, grpc-18: at the end queued tasks run, pending alarms get false, and then calls are refused")
    void theEnd() throws Exception {
        List<String> order = new ArrayList<>();
        Reactors manager = one();
        manager.shutdownRef();
        manager.shutdown();
        manager.schedule(Duration.ofHours(1), fired -> order.add("alarm " + fired + " " + manager.inManager()));
        try (Gate gate = new Gate(manager)) {
            gate.isClosed();
            manager.execute(() -> order.add("task"));
            manager.shutdownUnref();
        }
        assertThat(manager.awaitTermination(Duration.ofSeconds(10))).isTrue();
        assertThat(order).containsExactly("task", "alarm false true");
        assertThatThrownBy(() -> manager.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        assertThatThrownBy(() -> manager.schedule(Duration.ZERO, fired -> {}))
                .isInstanceOf(RejectedExecutionException.class);
        assertThatThrownBy(manager::shutdownUnref).isInstanceOf(IllegalStateException.class);
    }

    @Test
    @DisplayName("mill-4: a task that throws is counted, and the others go on")
    void throwing() throws Exception {
        try (Reactors manager = one()) {
            manager.execute(() -> {
                throw new IllegalStateException("on purpose");
            });
            barrier(manager);
            assertThat(manager.metrics().failures()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("mr-1: one slow handler makes one report, which names it")
    void watchdog() throws Exception {
        LinkedBlockingQueue<BlockedLoop> reports = new LinkedBlockingQueue<>();
        try (Reactors manager = Reactors.builder()
                .reactors(2)
                .clock(clock)
                .watchdog(Duration.ofMillis(100), reports::add)
                .open()) {
            CountDownLatch open = new CountDownLatch(1);
            CountDownLatch entered = new CountDownLatch(1);
            Runnable slow = new Runnable() {
                @Override
                public void run() {
                    entered.countDown();
                    awaitQuietly(open);
                }

                @Override
                public String toString() {
                    return "the slow one";
                }
            };
            manager.execute(slow);
            awaitQuietly(entered);
            clock.advance(Duration.ofMillis(150));
            BlockedLoop report = reports.poll(10, TimeUnit.SECONDS);
            assertThat(report).isNotNull();
            assertThat(report.handler()).isEqualTo("the slow one");
            assertThat(report.lasts()).isEqualTo(Duration.ofMillis(150));
            assertThat(report.stack()).anyMatch(frame -> frame.getClassName().startsWith(ReactorsTest.class.getName()));
            assertThat(manager.dump()).contains("in the slow one");
            clock.advance(Duration.ofMillis(150));
            open.countDown();
        }
        assertThat(reports).isEmpty();
    }

    @Test
    @DisplayName("end-2: a manager that has ended leaves no thread behind, its watchdog's neither")
    void noThreads() {
        Reactors manager = Reactors.builder().reactors(2).name("ended-manager").open();
        assertThat(isThere("ended-manager")).isTrue();
        assertThat(manager.shutdown(Duration.ofMinutes(1))).isEmpty();
        await().until(() -> !isThere("ended-manager"));
    }

    private static boolean isThere(String thread) {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(each -> each.getName().startsWith(thread));
    }

    @Test
    @DisplayName("end-3: termination() is done as soon as awaitTermination or isTerminated says so")
    void terminationIsToldByAll() throws Exception {
        for (int i = 0; i < 200; i++) {
            Reactors manager = Reactors.builder()
                    .reactors(2)
                    .withoutWatchdog()
                    .name("test")
                    .open();
            manager.execute(manager::shutdown);
            if (i % 2 == 0) {
                assertThat(manager.awaitTermination(Duration.ofSeconds(10))).isTrue();
            } else {
                while (!manager.isTerminated()) {
                    Thread.onSpinWait();
                }
            }
            assertThat(manager.termination()).isCompleted();
            assertThat(manager.isTerminated()).isTrue();
        }
    }
}
