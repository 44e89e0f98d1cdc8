package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.AlarmKey;
import io.millrace.engine.CancelResult;
import io.millrace.engine.EventManager;
import io.millrace.engine.Key;
import io.millrace.engine.Priority;
import io.millrace.engine.Task;
import io.millrace.engine.TaskKey;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * How every {@link EventManager} ends: when the last reference is released, with nothing lost and nothing done twice.
 */
@DisplayName("Ending")
public abstract class EndingContract extends ManagerContract<EventManager> {
    private static final Duration SOON = Await.DEADLINE;
    /** Enough for a race; a machine on which the manager gets no processor time must not be flooded. */
    private static final int MOST_BEFORE_THE_END = 1_000;

    /** For subclasses. */
    protected EndingContract() {}

    @Test
    @DisplayName("grpc-8: a reference that was never taken cannot be given back")
    void aReferenceIsGivenBackOnce() {
        assertThatThrownBy(manager::shutdownUnref).isInstanceOf(IllegalStateException.class);
        manager.shutdownRef();
        manager.shutdownRef();
        manager.shutdownUnref();
        manager.shutdownUnref();
        assertThatThrownBy(manager::shutdownUnref).isInstanceOf(IllegalStateException.class);

        turns(manager);
        assertThat(manager.isShutdown()).isFalse();
        manager.shutdownRef(); // counts from zero, not from below
        manager.shutdown();
        turns(manager);
        assertThat(manager.isTerminated()).isFalse();
        manager.shutdownUnref();
        awaitEnd(manager);
    }

    @Test
    @DisplayName("grpc-8, grpc-18: while somebody holds it, a manager that was shut down takes and does everything")
    void referencesDeferTheEnd() throws InterruptedException {
        manager.shutdownRef();
        manager.shutdown();
        manager.shutdown();
        assertThat(manager.isShutdown()).isTrue();
        assertThat(manager.awaitTermination(Duration.ofMillis(1))).isFalse();

        AtomicInteger ran = new AtomicInteger();
        Bell bell = new Bell(manager);
        manager.execute(ran::incrementAndGet);
        manager.run(ran::incrementAndGet);
        manager.runAll(List.of(new Task(ran::incrementAndGet)));
        manager.schedule(Duration.ofMillis(1), bell);
        AlarmKey far = manager.schedule(FAR, bell);
        manager.shutdownRef(); // one more may still be taken
        Await.until("tasks run", () -> ran.get() == 3);
        bell.awaitFired(1);
        assertThat(manager.cancel(far)).isEqualTo(CancelResult.CANCELLED);
        manager.shutdownUnref();
        turns(manager);
        assertThat(manager.isTerminated()).isFalse();

        manager.shutdownUnref();
        awaitEnd(manager);
        assertThat(manager.isShutdown()).isTrue();
    }

    @Test
    @DisplayName("grpc-8, grpc-18: alarms that are pending at the end get false once, on the manager")
    void pendingAlarmsGetFalse() {
        List<Bell> bells = new ArrayList<>();
        ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < 100; i++) {
            Bell bell = new Bell(manager);
            bells.add(bell);
            if (i % 10 == 0) {
                manager.scheduleEvery(FAR, FAR, bell, Priority.LOW);
            } else {
                manager.schedule(FAR.plusSeconds(i), bell);
            }
        }
        manager.schedule(FAR, fired -> {
            if (fired || !manager.inManager()) {
                wrong.add(fired + " on " + Thread.currentThread());
            }
        });
        manager.schedule(FAR, fired -> {
            throw new IllegalStateException("thrown by an alarm that was cut off by the test");
        });
        manager.shutdown();
        awaitEnd(manager);

        assertThat(wrong).isEmpty();
        for (Bell bell : bells) {
            assertThat(bell.stopped).hasValue(1);
            assertThat(bell.fired).hasValue(0);
        }
    }

    @Test
    @DisplayName("grpc-18: tasks that are queued at the end run")
    void queuedTasksRun() {
        Gate gate = new Gate();
        AtomicInteger ran = new AtomicInteger();
        manager.run(gate);
        gate.awaitEntered();
        for (int i = 0; i < 5_000; i++) {
            manager.run(ran::incrementAndGet, CLASSES.get(i % CLASSES.size()));
        }
        manager.shutdown();
        assertThat(manager.isTerminated()).isFalse();
        gate.open();
        awaitEnd(manager);

        assertThat(ran).hasValue(5_000);
    }

    @Test
    @DisplayName("grpc-18: what has ended refuses everything new, and says so")
    void whatHasEndedRefuses() throws InterruptedException {
        CountDownLatch ran = new CountDownLatch(1);
        TaskKey task = manager.run(ran::countDown);
        AlarmKey alarm = manager.schedule(FAR, fired -> {});
        await("the task runs", ran);
        manager.close();
        assertThat(manager.isShutdown()).isTrue();
        assertThat(manager.isTerminated()).isTrue();
        assertThat(manager.awaitTermination(Duration.ZERO)).isTrue();
        assertThat(manager.awaitTermination(FAR)).isTrue();

        AtomicInteger late = new AtomicInteger();
        List<ThrowingCallable> calls = List.of(
                () -> manager.execute(late::incrementAndGet),
                () -> manager.run(late::incrementAndGet),
                () -> manager.run(late::incrementAndGet, Priority.SYSTEM),
                () -> manager.runAll(List.of(new Task(late::incrementAndGet), new Task(late::incrementAndGet))),
                () -> manager.schedule(0, fired -> late.incrementAndGet(), Priority.NORMAL),
                () -> manager.schedule(Duration.ZERO, fired -> late.incrementAndGet()),
                () -> manager.schedule(Instant.EPOCH, fired -> late.incrementAndGet(), Priority.NORMAL),
                () -> manager.scheduleEvery(
                        Duration.ZERO, Duration.ofMillis(1), fired -> late.incrementAndGet(), Priority.NORMAL));
        for (ThrowingCallable call : calls) {
            assertThatThrownBy(call).isInstanceOf(RejectedExecutionException.class);
        }
        assertThatThrownBy(manager::shutdownRef).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(manager::shutdownUnref).isInstanceOf(IllegalStateException.class);
        for (Key key : List.of(task, alarm)) {
            assertThat(manager.cancel(key)).isEqualTo(CancelResult.DONE);
            assertThat(manager.cancelAndWait(key)).isEqualTo(CancelResult.DONE);
        }
        manager.shutdown();
        manager.close();
        assertThat(late).hasValue(0);
        assertThat(manager.toString()).isNotBlank();
    }

    @Test
    @DisplayName("grpc-18: a manager closed from inside its own task, alarm or cut-off alarm ends, and waits for nobody"
            + " there")
    void aManagerMayBeClosedFromInside() {
        EventManager byTask = closing(open());
        AtomicBoolean returned = new AtomicBoolean();
        byTask.run(() -> {
            byTask.close();
            returned.set(true);
        });
        awaitEnd(byTask);
        assertThat(returned).isTrue();

        EventManager byAlarm = closing(open());
        AtomicInteger calls = new AtomicInteger();
        byAlarm.schedule(Duration.ofMillis(1), fired -> {
            byAlarm.close();
            calls.incrementAndGet();
        });
        awaitEnd(byAlarm);
        assertThat(calls).hasValue(1);

        EventManager bySecond = closing(open());
        bySecond.schedule(FAR, fired -> {
            bySecond.close();
            calls.incrementAndGet();
        });
        bySecond.close();
        assertThat(bySecond.isTerminated()).isTrue();
        assertThat(calls).hasValue(2);

        EventManager byRefs = closing(open());
        byRefs.shutdownRef();
        byRefs.shutdown();
        byRefs.run(byRefs::shutdownUnref);
        awaitEnd(byRefs);
    }

    @Test
    @DisplayName(
            "grpc-18: close waits for callbacks that run, on several threads at once, and an interrupt does not cut it"
                    + " short")
    void closeWaits() {
        Gate gate = new Gate();
        AtomicBoolean ended = new AtomicBoolean();
        manager.run(() -> {
            gate.run();
            ended.set(true);
        });
        gate.awaitEntered();
        List<Background<Boolean>> closers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            closers.add(Background.call(() -> {
                manager.close();
                return ended.get() && manager.isTerminated();
            }));
        }
        Background<Boolean> interrupted = Background.call(() -> {
            Thread.currentThread().interrupt();
            manager.close();
            return ended.get() && Thread.interrupted();
        });
        Await.until(
                "all of them wait",
                () -> closers.stream().allMatch(closer -> EventManagerContract.isWaiting(closer.thread())));
        gate.open();

        for (Background<Boolean> closer : closers) {
            assertThat(closer.result()).isTrue();
        }
        assertThat(interrupted.result()).as("the interrupt is kept").isTrue();
    }

    @Test
    @DisplayName("grpc-18: an interrupt ends a wait for the end, and not the manager")
    void aWaitForTheEndCanBeInterrupted() {
        Background<Boolean> waiting = Background.call(() -> manager.awaitTermination(FAR));
        Await.until("it waits", () -> EventManagerContract.isWaiting(waiting.thread()));
        waiting.thread().interrupt();
        waiting.failure(InterruptedException.class);
        turns(manager);
    }

    @Test
    @DisplayName("grpc-18: tasks and alarms that hand themselves over again and again do not keep it from ending")
    void endlessWorkEnds() {
        AtomicInteger accepted = new AtomicInteger();
        AtomicInteger ran = new AtomicInteger();
        AtomicInteger refused = new AtomicInteger();
        for (int i = 0; i < 3; i++) {
            taskForEver(accepted, ran, refused);
            alarmForEver(accepted, ran, refused);
        }
        Await.until("they run", () -> ran.get() > 1_000);
        manager.shutdown();
        awaitEnd(manager);

        assertThat(refused).as("each was refused once").hasValue(6);
        assertThat(ran).as("what was accepted was called").hasValue(accepted.get());
    }

    private void taskForEver(AtomicInteger accepted, AtomicInteger ran, AtomicInteger refused) {
        orRefused(
                accepted,
                refused,
                () -> manager.run(() -> {
                    ran.incrementAndGet();
                    taskForEver(accepted, ran, refused);
                }));
    }

    private void alarmForEver(AtomicInteger accepted, AtomicInteger ran, AtomicInteger refused) {
        orRefused(
                accepted,
                refused,
                () -> manager.schedule(Duration.ZERO, fired -> {
                    ran.incrementAndGet();
                    alarmForEver(accepted, ran, refused);
                }));
    }

    private static void orRefused(AtomicInteger accepted, AtomicInteger refused, Runnable call) {
        accepted.incrementAndGet();
        try {
            call.run();
        } catch (RejectedExecutionException e) {
            accepted.decrementAndGet();
            refused.incrementAndGet();
        }
    }

    @Test
    @DisplayName(
            "grpc-18: tasks, alarms, cancels and references raced by close: what was accepted is called once, what was"
                    + " refused never")
    void everythingRacesClose() {
        long seed = System.nanoTime();
        int rounds = 40;
        for (int round = 0; round < rounds; round++) {
            raceClose(new Random(seed + round), "seed " + seed + ", round " + round);
        }
    }

    private void raceClose(Random random, String named) {
        EventManager raced = closing(open());
        AtomicInteger accepted = new AtomicInteger();
        AtomicInteger refused = new AtomicInteger();
        AtomicInteger called = new AtomicInteger();
        AtomicInteger cancelledTasks = new AtomicInteger();
        ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
        CountDownLatch started = new CountDownLatch(2);
        List<Background<Boolean>> users = new ArrayList<>();
        for (int t = 0; t < 2; t++) {
            Random theirs = new Random(random.nextLong());
            users.add(Background.run(() -> {
                started.countDown();
                for (int i = 0; refused.get() < 4 && !raced.isTerminated(); i++) {
                    if (i > MOST_BEFORE_THE_END) {
                        Await.spinUntil("somebody shuts it down", raced::isShutdown);
                    }
                    useOnce(raced, theirs, accepted, refused, called, cancelledTasks, wrong);
                }
            }));
        }
        await("both run", started);
        Await.spin(random.nextInt(20_000));
        if (random.nextBoolean()) {
            raced.execute(raced::close);
        } else {
            raced.shutdown();
        }
        users.forEach(Background::result);
        awaitEnd(raced);

        assertThat(wrong).as(named).isEmpty();
        assertThat(called.get() + cancelledTasks.get()).as(named).isEqualTo(accepted.get());
    }

    private static void useOnce(
            EventManager raced,
            Random random,
            AtomicInteger accepted,
            AtomicInteger refused,
            AtomicInteger called,
            AtomicInteger cancelledTasks,
            ConcurrentLinkedQueue<String> wrong) {
        AtomicInteger once = new AtomicInteger();
        Runnable call = () -> {
            called.incrementAndGet();
            if (once.incrementAndGet() > 1) {
                wrong.add("called twice");
            }
            if (raced.inManager() && raced.isTerminated()) {
                wrong.add("called after the end");
            }
        };
        orRefused(accepted, refused, () -> {
            switch (random.nextInt(6)) {
                case 0 -> raced.execute(call);
                case 1 -> raced.schedule(Duration.ZERO, fired -> call.run());
                case 2 -> raced.schedule(FAR, fired -> call.run());
                case 3 -> raced.cancel(raced.schedule(Duration.ofNanos(100_000), fired -> call.run()));
                case 4 -> {
                    if (raced.cancel(raced.run(call)) == CancelResult.CANCELLED) {
                        cancelledTasks.incrementAndGet();
                    }
                }
                default -> {
                    raced.run(call);
                    holdBriefly(raced);
                }
            }
        });
    }

    private static void holdBriefly(EventManager raced) {
        try {
            raced.shutdownRef();
        } catch (IllegalStateException ended) {
            return;
        }
        raced.shutdownUnref();
    }

    private static void awaitEnd(EventManager manager) {
        try {
            assertThat(manager.awaitTermination(SOON)).as("it ends").isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("nobody interrupts this", e);
        }
        assertThat(manager.isTerminated()).isTrue();
    }
}
