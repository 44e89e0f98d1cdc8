package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.CancelResult;
import io.millrace.engine.EventManager;
import io.millrace.engine.Key;
import io.millrace.engine.Priority;
import io.millrace.engine.Task;
import io.millrace.engine.TaskKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * What every {@link EventManager} guarantees for its tasks: they run once and in order, or never, and callbacks do not
 * interfere with others. {@link AlarmContract} and {@link EndingContract} are the other two that a manager without
 * descriptors must pass.
 */
@DisplayName("Tasks")
public abstract class EventManagerContract extends ManagerContract<EventManager> {
    /** Enough to show a list of finished tasks: each holds {@link #BALLAST} bytes. */
    private static final int RECURSIONS = Boolean.getBoolean("millrace.soak") ? 1 << 20 : 1 << 18;

    private static final int BALLAST = 1024;
    private static final long SLACK_BYTES = 64L << 20;

    /** For subclasses. */
    protected EventManagerContract() {}

    @Test
    @DisplayName("grpc-2: one scale from LOW, 0, to SYSTEM, 4")
    void oneScaleForEverything() {
        assertThat(Priority.values())
                .containsExactly(Priority.LOW, Priority.NORMAL, Priority.HIGH, Priority.IMMEDIATE, Priority.SYSTEM);
        assertThat(Priority.values()).extracting(Priority::level).containsExactly(0, 1, 2, 3, 4);
        assertThat(Priority.MIN).isEqualTo(Priority.LOW);
        assertThat(Priority.MAX).isEqualTo(Priority.SYSTEM);
    }

    @Test
    @DisplayName("grpc-1, grpc-5: a task of each class runs once, on a thread of the manager")
    void aTaskRunsOnceOnAThreadOfTheManager() {
        AtomicInteger ran = new AtomicInteger();
        AtomicInteger inside = new AtomicInteger();
        Runnable task = () -> {
            inside.addAndGet(manager.inManager() && isOutside() ? 1 : 0);
            ran.incrementAndGet();
        };
        assertThat(manager.inManager()).isFalse();
        handOver(() -> {
            for (Priority priority : Priority.values()) {
                manager.run(task, priority);
            }
            manager.run(task);
            manager.execute(task);
            manager.runAll(List.of(new Task(task)));
        });

        Await.until("all have run", () -> ran.get() == 8);
        turns(manager);
        assertThat(ran).hasValue(8);
        assertThat(inside).as("in the manager, and not inside the call").hasValue(8);
        assertThat(manager.inManager()).isFalse();
    }

    @Test
    @DisplayName("grpc-5: a task handed over by a task never runs inside the call")
    void aTaskNeverRunsInsideTheCall() {
        CountDownLatch done = new CountDownLatch(4);
        AtomicInteger inside = new AtomicInteger();
        Runnable inner = () -> {
            inside.addAndGet(isOutside() ? 0 : 1);
            done.countDown();
        };
        manager.execute(() -> handOver(() -> {
            manager.execute(inner);
            manager.run(inner, Priority.SYSTEM);
            manager.runAll(List.of(new Task(inner, Priority.IMMEDIATE)));
            manager.schedule(Duration.ZERO, fired -> inner.run());
        }));

        await("all four run", done);
        assertThat(inside).hasValue(0);
    }

    @Test
    @DisplayName(
            "grpc-5: runAll gives a key for each task, and runs those of a class one after the other in the order of"
                    + " the list")
    void aBatchKeepsItsOrder() {
        ConcurrentLinkedQueue<String> ran = new ConcurrentLinkedQueue<>();
        List<Task> tasks = new ArrayList<>();
        List<Priority> classes = List.of(Priority.NORMAL, Priority.HIGH, Priority.LOW);
        for (int i = 0; i < 300; i++) {
            Priority priority = classes.get(i % classes.size());
            int number = i;
            tasks.add(new Task(() -> ran.add(priority + " " + number), priority));
        }
        List<TaskKey> keys = manager.runAll(tasks);
        tasks.clear(); // the caller may change the list again

        assertThat(keys).hasSize(300).doesNotHaveDuplicates();
        Await.until("all have run", () -> ran.size() == 300);
        for (int c = 0; c < classes.size(); c++) {
            String name = classes.get(c).toString();
            List<String> expected = new ArrayList<>();
            for (int i = c; i < 300; i += classes.size()) {
                expected.add(name + " " + i);
            }
            assertThat(ran.stream().filter(line -> line.startsWith(name + " "))).containsExactlyElementsOf(expected);
        }
        assertThat(manager.runAll(List.of())).isEmpty();
    }

    @Test
    @DisplayName("grpc-5: a cancelled task never runs, one of a batch too; again it is DONE")
    void aCancelledTaskNeverRuns() {
        Gate gate = new Gate();
        AtomicInteger cancelled = new AtomicInteger();
        AtomicInteger others = new AtomicInteger();
        // Behind the gate, in the same batch: the only place where a task waits in every manager.
        List<TaskKey> keys = manager.runAll(List.of(
                new Task(gate),
                new Task(cancelled::incrementAndGet),
                new Task(others::incrementAndGet),
                new Task(cancelled::incrementAndGet),
                new Task(others::incrementAndGet)));
        gate.awaitEntered();

        assertThat(manager.cancel(keys.get(1))).isEqualTo(CancelResult.CANCELLED);
        assertThat(waitCancel(manager, keys.get(3))).isEqualTo(CancelResult.CANCELLED);
        assertThat(manager.cancel(keys.get(1))).isEqualTo(CancelResult.DONE);
        assertThat(waitCancel(manager, keys.get(3))).isEqualTo(CancelResult.DONE);
        gate.open();

        Await.until("the others run", () -> others.get() == 2);
        turns(manager);
        assertThat(cancelled).hasValue(0);
    }

    @Test
    @DisplayName("grpc-6: a task that runs is RUNNING, and DONE when it has run")
    void aRunningTaskIsRunning() {
        Gate gate = new Gate();
        TaskKey key = manager.run(gate);
        gate.awaitEntered();

        assertThat(manager.cancel(key)).isEqualTo(CancelResult.RUNNING);
        assertThat(manager.cancel(key)).isEqualTo(CancelResult.RUNNING);
        gate.open();

        Await.until("it is over", () -> manager.cancel(key) == CancelResult.DONE);
    }

    @Test
    @DisplayName("grpc-7: a blocking cancel waits for the task that runs")
    void aBlockingCancelWaits() {
        Gate gate = new Gate();
        AtomicBoolean ended = new AtomicBoolean();
        TaskKey key = manager.run(() -> {
            gate.run();
            ended.set(true);
        });
        gate.awaitEntered();
        Background<Boolean> canceller = Background.call(() -> {
            assertThat(manager.cancelAndWait(key)).isEqualTo(CancelResult.DONE);
            return ended.get();
        });
        Await.until("it waits", () -> isWaiting(canceller.thread()));
        gate.open();

        assertThat(canceller.result()).as("the task had ended").isTrue();
    }

    @Test
    @DisplayName("grpc-7: an interrupt ends the wait of a blocking cancel, and nothing else")
    void aBlockingCancelCanBeInterrupted() {
        Gate gate = new Gate();
        AtomicBoolean ended = new AtomicBoolean();
        TaskKey key = manager.run(() -> {
            gate.run();
            ended.set(true);
        });
        gate.awaitEntered();
        Background<CancelResult> canceller = Background.call(() -> manager.cancelAndWait(key));
        Await.until("it waits", () -> isWaiting(canceller.thread()));
        canceller.thread().interrupt();

        canceller.failure(InterruptedException.class);
        assertThat(manager.cancel(key)).isEqualTo(CancelResult.RUNNING);
        gate.open();
        Await.until("the task ends as it would have", ended::get);
    }

    @Test
    @DisplayName("grpc-7: a blocking cancel from inside its own task is RUNNING, and does not wait")
    void aBlockingCancelFromInsideDoesNotWait() {
        AtomicReference<@Nullable TaskKey> key = new AtomicReference<>();
        List<CancelResult> results = Collections.synchronizedList(new ArrayList<>());
        Gate known = new Gate();
        key.set(manager.run(() -> {
            known.run();
            TaskKey own = key.get();
            if (own != null) {
                results.add(manager.cancel(own));
                results.add(waitCancel(manager, own));
            }
        }));
        known.open();

        Await.until("both have returned", () -> results.size() == 2);
        assertThat(results).containsOnly(CancelResult.RUNNING);
    }

    @Test
    @DisplayName("grpc-6: a key of another manager is refused, and nothing is changed")
    void aStrangersKeyIsRefused() {
        EventManager other = closing(open());
        CountDownLatch ran = new CountDownLatch(1);
        Gate gate = new Gate();
        TaskKey theirs =
                other.runAll(List.of(new Task(gate), new Task(ran::countDown))).get(1);
        Key nobodys = new TaskKey() {};

        for (Key key : List.of(theirs, nobodys)) {
            assertThatThrownBy(() -> manager.cancel(key)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> manager.cancelAndWait(key)).isInstanceOf(IllegalArgumentException.class);
        }
        gate.open();
        await("the other manager's task runs", ran);
    }

    @Test
    @DisplayName("grpc-6: the key of what is over never names anything else")
    void oldKeysAreHarmless() {
        List<TaskKey> old = new ArrayList<>();
        CountDownLatch first = new CountDownLatch(2_000);
        for (int i = 0; i < 2_000; i++) {
            old.add(manager.run(first::countDown));
        }
        await("the first have run", first);
        Await.until("the last is over", () -> manager.cancel(old.getLast()) == CancelResult.DONE);

        Gate gate = new Gate();
        AtomicInteger ran = new AtomicInteger();
        List<Task> next = new ArrayList<>(List.of(new Task(gate)));
        for (int i = 0; i < 2_000; i++) {
            next.add(new Task(ran::incrementAndGet));
        }
        manager.runAll(next);
        gate.awaitEntered();
        for (TaskKey key : old) {
            assertThat(manager.cancel(key)).isEqualTo(CancelResult.DONE);
        }
        gate.open();
        Await.until("all of the next run", () -> ran.get() == 2_000);
    }

    @Test
    @DisplayName("grpc-6: tasks raced by two cancels each run once or never, as the cancels were told")
    void tasksAndCancelsRace() {
        long seed = System.nanoTime();
        int tasks = 20_000;
        AtomicIntegerArray ran = new AtomicIntegerArray(tasks);
        AtomicIntegerArray cancelled = new AtomicIntegerArray(tasks);
        ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
        TaskKey[] keys = new TaskKey[tasks];
        AtomicInteger published = new AtomicInteger();
        List<Background<Boolean>> cancellers = new ArrayList<>();
        for (int t = 0; t < 2; t++) {
            Random random = new Random(seed + t);
            boolean blocking = t == 1;
            cancellers.add(Background.run(() -> {
                for (int i = 0; i < tasks; i++) {
                    int wanted = i;
                    Await.spinUntil("task " + i + " is handed over", () -> published.get() > wanted);
                    Await.spin(random.nextInt(200));
                    CancelResult result = blocking ? manager.cancelAndWait(keys[i]) : manager.cancel(keys[i]);
                    if (result == CancelResult.CANCELLED) {
                        cancelled.incrementAndGet(i);
                    }
                    if ((result == CancelResult.DONE && ran.get(i) + cancelled.get(i) > 1)
                            || (blocking && result == CancelResult.RUNNING)) {
                        wrong.add(result + " of task " + i);
                    }
                }
            }));
        }
        Random random = new Random(seed - 1);
        for (int i = 0; i < tasks; i++) {
            int number = i;
            keys[i] = manager.run(() -> ran.incrementAndGet(number));
            published.set(i + 1);
            Await.spin(random.nextInt(100));
        }
        cancellers.forEach(Background::result);
        manager.close(); // all that was to run has run

        assertThat(wrong).as("seed " + seed).isEmpty();
        for (int i = 0; i < tasks; i++) {
            assertThat(ran.get(i) + cancelled.get(i))
                    .as("task " + i + " ran or was cancelled, seed " + seed)
                    .isEqualTo(1);
        }
    }

    @Test
    @DisplayName("grpc-1: a callback that throws harms nobody else")
    void aThrowingCallbackHarmsNobody() {
        AtomicInteger ran = new AtomicInteger();
        List<Task> batch = new ArrayList<>();
        for (Priority priority : Priority.values()) {
            batch.add(new Task(
                    () -> {
                        throw new IllegalStateException("thrown by a task of the test");
                    },
                    priority));
            batch.add(new Task(ran::incrementAndGet, priority));
        }
        manager.runAll(batch);
        manager.execute(() -> {
            throw new AssertionError("an error thrown by a task of the test");
        });
        TaskKey thrower = manager.run(() -> {
            throw new IllegalStateException("thrown by a task of the test, with a key");
        });
        manager.schedule(Duration.ZERO, fired -> {
            throw new IllegalStateException("thrown by an alarm of the test");
        });
        manager.schedule(Duration.ofMillis(2), fired -> ran.incrementAndGet());
        manager.execute(ran::incrementAndGet);

        Await.until("everybody else runs", () -> ran.get() == Priority.values().length + 2);
        Await.until("what threw is over", () -> manager.cancel(thrower) == CancelResult.DONE);
        assertThat(waitCancel(manager, thrower)).isEqualTo(CancelResult.DONE);
        turns(manager);
    }

    @Test
    @DisplayName("grpc-5: 2^20 tasks, each handed over by the one before, need the memory and the stack of one")
    void recursionIsBounded() {
        manager.run(() -> {});
        turns(manager);
        long before = usedBytes();
        AtomicInteger left = new AtomicInteger(RECURSIONS);
        AtomicInteger deepest = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(1);
        recurse(left, new byte[BALLAST], deepest, done);

        for (int part = 7; part > 0; part--) {
            int some = RECURSIONS / 8 * part;
            Await.until("there are " + some + " left", () -> left.get() <= some);
        }
        await("the last one runs", done);
        assertThat(usedBytes() - before).as("bytes kept").isLessThan(SLACK_BYTES);
        assertThat(deepest.get()).as("frames").isLessThan(200);
    }

    private void recurse(AtomicInteger left, byte[] ballast, AtomicInteger deepest, CountDownLatch done) {
        manager.run(() -> {
            if (ballast.length != BALLAST) { // the task holds it
                return;
            }
            int now = left.decrementAndGet();
            if (now % 4096 == 0) {
                deepest.accumulateAndGet(stackDepth(), Math::max);
            }
            if (now > 0) {
                recurse(left, new byte[BALLAST], deepest, done);
            } else {
                done.countDown();
            }
        });
    }

    // ---- Priorities ----

    @Test
    @DisplayName("grpc-2: what is LOW runs although HIGH work never ends")
    void lowWorkIsNotStarved() {
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger ran = new AtomicInteger();
        for (int i = 0; i < 4; i++) {
            runForEver(i % 2 == 0 ? Priority.HIGH : Priority.SYSTEM, stop);
        }
        try {
            for (int i = 0; i < 10; i++) {
                int before = ran.get();
                manager.run(ran::incrementAndGet, Priority.LOW);
                manager.run(ran::incrementAndGet, Priority.NORMAL);
                manager.schedule(Duration.ofMillis(1), fired -> ran.incrementAndGet(), Priority.LOW);
                Await.until("two tasks and an alarm run", () -> ran.get() == before + 3);
            }
        } finally {
            stop.set(true);
        }
    }

    private void runForEver(Priority priority, AtomicBoolean stop) {
        manager.run(
                () -> {
                    if (!stop.get()) {
                        runForEver(priority, stop);
                    }
                },
                priority);
    }

    @Test
    @DisplayName("grpc-2: in a turn the higher classes run first, and each in the order of arrival")
    void higherClassesRunFirst() {
        assumeStrictPriorities();
        Gate gate = new Gate();
        manager.run(gate);
        gate.awaitEntered();
        ConcurrentLinkedQueue<String> ran = new ConcurrentLinkedQueue<>();
        List<Priority> mixed = new ArrayList<>();
        for (Priority priority : Priority.values()) {
            mixed.addAll(Collections.nCopies(3, priority));
        }
        long seed = System.nanoTime();
        Collections.shuffle(mixed, new Random(seed));
        int[] numbers = new int[Priority.values().length];
        for (Priority priority : mixed) {
            int number = numbers[priority.level()]++;
            manager.run(() -> ran.add(priority + " " + number), priority);
        }
        gate.open();

        Await.until("all have run", () -> ran.size() == mixed.size());
        List<String> expected = new ArrayList<>();
        for (Priority priority : List.of(Priority.values()).reversed()) {
            for (int i = 0; i < 3; i++) {
                expected.add(priority + " " + i);
            }
        }
        assertThat(ran).as("seed " + seed).containsExactlyElementsOf(expected);
    }

    @Test
    @DisplayName("grpc-2: an alarm that is due is served by its priority, among tasks")
    void alarmsAndTasksShareTheScale() {
        assumeStrictPriorities();
        Gate gate = new Gate();
        manager.run(gate);
        gate.awaitEntered();
        ConcurrentLinkedQueue<String> ran = new ConcurrentLinkedQueue<>();
        manager.run(() -> ran.add("normal task"), Priority.NORMAL);
        manager.schedule(manager.clock().nanoTime(), fired -> ran.add("low alarm"), Priority.LOW);
        manager.schedule(manager.clock().nanoTime(), fired -> ran.add("high alarm"), Priority.HIGH);
        manager.run(() -> ran.add("immediate task"), Priority.IMMEDIATE);
        long now = manager.clock().nanoTime();
        Await.until("a tick is over", () -> manager.clock().nanoTime() - now > 3 * TICK.toNanos());
        gate.open();

        Await.until("all have run", () -> ran.size() == 4);
        assertThat(ran).containsExactly("immediate task", "high alarm", "normal task", "low alarm");
    }

    @Test
    @DisplayName("grpc-2: what is queued during a turn waits for the next, however urgent")
    void whatIsQueuedDuringATurnWaits() {
        assumeStrictPriorities();
        Gate gate = new Gate();
        manager.run(gate);
        gate.awaitEntered();
        ConcurrentLinkedQueue<String> ran = new ConcurrentLinkedQueue<>();
        manager.run(() -> ran.add("low"), Priority.LOW);
        manager.run(
                () -> {
                    ran.add("high");
                    manager.run(() -> ran.add("system, later"), Priority.SYSTEM);
                },
                Priority.HIGH);
        gate.open();

        Await.until("all have run", () -> ran.size() == 3);
        assertThat(ran).containsExactly("high", "low", "system, later");
    }

    // ---- No lock is held while user code runs ----

    @Test
    @DisplayName("grpc-7: every method can be called from every callback")
    void everyMethodCanBeCalledFromEveryCallback() {
        AtomicInteger survived = new AtomicInteger();
        Runnable everything = () -> {
            callEverything(manager);
            survived.incrementAndGet();
        };
        manager.execute(everything);
        manager.run(everything, Priority.SYSTEM);
        manager.runAll(List.of(new Task(everything), new Task(everything)));
        manager.schedule(Duration.ofMillis(1), fired -> everything.run());
        manager.cancel(manager.schedule(FAR, fired -> everything.run()));
        Key periodic =
                manager.scheduleEvery(Duration.ZERO, Duration.ofMillis(1), fired -> everything.run(), Priority.NORMAL);

        Await.until("from tasks, alarms, a cancelled one and a periodic one", () -> survived.get() >= 8);
        manager.cancel(periodic);
    }

    @Test
    @DisplayName("grpc-7: while a callback stands still, every method returns on other threads")
    void aBlockedCallbackHoldsNoLock() {
        Gate task = new Gate();
        manager.run(task);
        task.awaitEntered();
        Background.run(() -> callEverything(manager)).result();
        task.open();

        Gate alarm = new Gate();
        manager.schedule(Duration.ZERO, alarm);
        alarm.awaitEntered();
        Background.run(() -> callEverything(manager)).result();
        alarm.open();

        Gate cancelled = new Gate();
        Key key = manager.schedule(FAR, cancelled);
        Background<CancelResult> canceller = Background.call(() -> manager.cancel(key));
        cancelled.awaitEntered();
        Background.run(() -> callEverything(manager)).result();
        turns(manager); // and the manager goes on
        cancelled.open();
        assertThat(canceller.result()).isEqualTo(CancelResult.CANCELLED);
    }

    @Test
    @DisplayName("grpc-5: the manager serves code that wants a ScheduledExecutorService")
    void theExecutorViewRunsOnTheManager() throws Exception {
        var executor = manager.asScheduledExecutor();
        assertThat(executor.submit(manager::inManager).get()).isTrue();
        long start = manager.clock().nanoTime();
        long end = executor.schedule(() -> manager.clock().nanoTime(), 2, java.util.concurrent.TimeUnit.MILLISECONDS)
                .get();
        assertThat(end - start).isGreaterThanOrEqualTo(2_000_000);
        executor.shutdown();
        assertThat(manager.isShutdown()).isTrue();
    }

    /** Calls every method that can be called without ending the manager. Leaves nothing behind. */
    static void callEverything(EventManager manager) {
        Runnable nothing = () -> {};
        long later = manager.clock().nanoTime() + FAR.toNanos();
        List<Key> keys = new ArrayList<>();
        keys.add(manager.schedule(later, fired -> {}, Priority.HIGH));
        keys.add(manager.schedule(FAR, fired -> {}));
        keys.add(manager.schedule(FAR, fired -> {}, Priority.LOW));
        keys.add(manager.schedule(manager.wallClock().instant().plus(FAR), fired -> {}, Priority.LOW));
        keys.add(manager.scheduleEvery(FAR, FAR, fired -> {}, Priority.NORMAL));
        for (Key key : keys.subList(0, 3)) {
            assertThat(manager.cancel(key)).isEqualTo(CancelResult.CANCELLED);
        }
        for (Key key : keys.subList(3, 5)) {
            assertThat(waitCancel(manager, key)).isEqualTo(CancelResult.CANCELLED);
        }
        manager.execute(nothing);
        manager.run(nothing);
        manager.cancel(manager.run(nothing, Priority.SYSTEM));
        manager.runAll(List.of(new Task(nothing), new Task(nothing, Priority.LOW)))
                .forEach(manager::cancel);
        manager.shutdownRef();
        manager.shutdownUnref();
        assertThat(manager.isShutdown()).isFalse();
        assertThat(manager.isTerminated()).isFalse();
        try {
            assertThat(manager.awaitTermination(Duration.ZERO)).isFalse();
        } catch (InterruptedException e) {
            throw new AssertionError("nobody interrupts this", e);
        }
        manager.inManager();
        manager.asScheduledExecutor();
        assertThat(manager.toString()).isNotBlank();
    }

    static CancelResult waitCancel(EventManager manager, Key key) {
        try {
            return manager.cancelAndWait(key);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("nobody interrupts this", e);
        }
    }

    static boolean isWaiting(Thread thread) {
        return thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING;
    }
}
