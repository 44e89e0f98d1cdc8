package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.AlarmCallback;
import io.millrace.engine.AlarmKey;
import io.millrace.engine.CancelResult;
import io.millrace.engine.EventManager;
import io.millrace.engine.Priority;
import io.millrace.poll.ManualClock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * What every {@link EventManager} guarantees for its alarms: the callback gets true once and never early, or false
 * once, and never both.
 */
@DisplayName("Alarms")
public abstract class AlarmContract extends ManagerContract<EventManager> {
    private static final Duration SECOND = Duration.ofSeconds(1);

    /** For subclasses. */
    protected AlarmContract() {}

    // ---- Firing ----

    @Test
    @DisplayName("grpc-3: an alarm gets true once, on the manager, by a duration, a deadline or a time of day")
    void anAlarmFiresOnce() {
        Bell bell = new Bell(manager);
        handOver(() -> {
            manager.schedule(Duration.ofMillis(2), bell);
            manager.schedule(Duration.ofMillis(2), bell, Priority.HIGH);
            manager.schedule(manager.clock().nanoTime() + 2_000_000, bell, Priority.LOW);
            manager.schedule(manager.wallClock().instant().plusMillis(2), bell, Priority.SYSTEM);
        });

        bell.awaitFired(4);
        turns(manager);
        assertThat(bell.calls()).isEqualTo(4);
        assertThat(bell.wrong).isEmpty();
    }

    @Test
    @DisplayName("grpc-3, grpc-6, grpc-8: a future of after() is completed on the manager; the end cancels it")
    void aFutureAfterAWhile() {
        ManualClock clock = new ManualClock();
        EventManager slow = openOn(clock);
        CompletableFuture<Boolean> first = slow.after(SECOND).thenApply(nothing -> slow.inManager());
        CompletableFuture<?> given = slow.after(SECOND);
        CompletableFuture<?> never = slow.after(SECOND.multipliedBy(10));
        assertThat(given.cancel(false)).isTrue();
        clock.advance(SECOND.minusNanos(1));
        turns(slow);
        assertThat(first).as("a nanosecond is missing").isNotDone();
        clock.advance(TICK.plusNanos(1));
        Await.until("its time has come", first::isDone);
        assertThat(first).isCompletedWithValue(true);
        slow.shutdown();
        Await.until("the end reaches what waits", never::isDone);
        assertThat(never).isCancelled();
    }

    @Test
    @DisplayName("grpc-3: no alarm is early, whatever its delay")
    void noAlarmIsEarly() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int alarms = 2_000;
        AtomicInteger fired = new AtomicInteger();
        ConcurrentLinkedQueue<Long> early = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < alarms; i++) {
            long deadline = manager.clock().nanoTime() + (long) (Math.pow(random.nextDouble(), 4) * 300_000_000);
            manager.schedule(
                    deadline,
                    hasFired -> {
                        long now = manager.clock().nanoTime();
                        if (now - deadline < 0 || !hasFired) {
                            early.add(deadline - now);
                        }
                        fired.incrementAndGet();
                    },
                    CLASSES.get(random.nextInt(CLASSES.size())));
        }
        Await.until("all fire", () -> fired.get() == alarms);
        assertThat(early).as("nanoseconds too early, seed " + seed).isEmpty();
    }

    @Test
    @DisplayName("grpc-17: a time that has passed is the next turn's, never the caller's")
    void aPastTimeIsTheNextTurns() {
        Bell bell = new Bell(manager);
        Runnable schedule = () -> {
            manager.schedule(Duration.ZERO, bell);
            manager.schedule(Duration.ofDays(-1), bell);
            manager.schedule(manager.clock().nanoTime() - 1, bell, Priority.NORMAL);
            manager.schedule(manager.clock().nanoTime() - Long.MAX_VALUE / 4, bell, Priority.NORMAL);
            manager.schedule(Instant.EPOCH, bell, Priority.NORMAL);
            manager.schedule(Instant.MIN, bell, Priority.NORMAL);
        };
        handOver(schedule);
        manager.execute(() -> handOver(schedule));

        bell.awaitFired(12);
        assertThat(bell.wrong).isEmpty();
    }

    @Test
    @DisplayName("grpc-17: a time beyond all counting is no time that has passed")
    void aTimeFarAwayDoesNotFire() {
        Bell bell = new Bell(manager);
        List<AlarmKey> keys = List.of(
                manager.schedule(Duration.ofSeconds(Long.MAX_VALUE), bell),
                manager.schedule(manager.clock().nanoTime() + Long.MAX_VALUE / 2, bell, Priority.NORMAL),
                manager.schedule(Instant.MAX, bell, Priority.NORMAL),
                manager.scheduleEvery(
                        Duration.ofSeconds(Long.MAX_VALUE), Duration.ofSeconds(Long.MAX_VALUE), bell, Priority.NORMAL));
        turns(manager);
        Bell near = new Bell(manager);
        manager.schedule(Duration.ofMillis(5), near);
        near.awaitFired(1);

        assertThat(bell.calls()).isZero();
        for (AlarmKey key : keys) {
            assertThat(manager.cancel(key)).isEqualTo(CancelResult.CANCELLED);
        }
        assertThat(bell.stopped).hasValue(4);
    }

    @Test
    @DisplayName(
            "grpc-3, grpc-17: on a clock that stands still nothing fires; at its deadline it does, at most one tick"
                    + " later")
    void anAlarmKeepsToTheManagersClock() {
        ManualClock clock = new ManualClock(-5 * SECOND.toNanos());
        EventManager slow = openOn(clock);
        assertThat(slow.clock()).isSameAs(clock);
        Bell first = new Bell(slow);
        Bell second = new Bell(slow);
        slow.schedule(clock.nanoTime() + SECOND.toNanos(), first, Priority.NORMAL);
        slow.schedule(SECOND.multipliedBy(10), second);
        turns(slow);
        assertThat(first.calls()).isZero();

        clock.advance(SECOND.minusNanos(1));
        turns(slow);
        assertThat(first.calls()).as("a nanosecond is missing").isZero();

        clock.advance(TICK.plusNanos(1));
        first.awaitFired(1);
        clock.advance(SECOND.multipliedBy(8));
        turns(slow);
        assertThat(second.calls()).isZero();
        clock.advance(SECOND.plus(TICK));
        second.awaitFired(1);
        assertThat(first.calls()).isEqualTo(1);
    }

    @Test
    @DisplayName("grpc-17: a wall clock that jumps changes nothing: an Instant is converted once")
    void aWallClockThatJumpsChangesNothing() {
        ManualClock clock = new ManualClock();
        AtomicReference<Instant> now = new AtomicReference<>(NOON);
        EventManager slow = openOn(clock, now::get);
        InstantSource wall = slow.wallClock();
        Bell bell = new Bell(slow);
        slow.schedule(wall.instant().plusSeconds(10), bell, Priority.NORMAL);

        now.set(NOON.plusSeconds(3_600));
        clock.advance(Duration.ofSeconds(9));
        turns(slow);
        assertThat(bell.calls()).as("after a jump forwards").isZero();

        now.set(NOON.minusSeconds(3_600));
        clock.advance(Duration.ofSeconds(1).plus(TICK));
        bell.awaitFired(1);

        Bell next = new Bell(slow);
        slow.schedule(NOON.minusSeconds(3_599), next, Priority.NORMAL); // one second from its now
        turns(slow);
        assertThat(next.calls()).isZero();
        clock.advance(Duration.ofSeconds(1).plus(TICK));
        next.awaitFired(1);
    }

    @Test
    @DisplayName("grpc-3: alarms of one deadline and class fire in the order in which they were set")
    void equalDeadlinesKeepTheirOrder() {
        assumeStrictPriorities();
        ManualClock clock = new ManualClock();
        EventManager slow = openOn(clock);
        ConcurrentLinkedQueue<Integer> fired = new ConcurrentLinkedQueue<>();
        List<Integer> expected = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            int number = i;
            expected.add(i);
            slow.schedule(SECOND.toNanos(), hasFired -> fired.add(number), Priority.NORMAL);
        }
        clock.advance(SECOND.plus(TICK));
        Await.until("all fire", () -> fired.size() == 100);
        assertThat(fired).containsExactlyElementsOf(expected);
    }

    @Test
    @DisplayName("grpc-3: 100,000 alarms, each set by the one before, need the stack of one")
    void alarmsThatSetAlarmsNeedNoStack() {
        int rounds = 100_000;
        AtomicInteger left = new AtomicInteger(rounds);
        AtomicInteger deepest = new AtomicInteger();
        setAgain(left, deepest);
        for (int part = 9; part >= 0; part--) {
            int some = rounds / 10 * part;
            Await.until("there are " + some + " left", () -> left.get() <= some);
        }
        assertThat(deepest.get()).isLessThan(200);
    }

    private void setAgain(AtomicInteger left, AtomicInteger deepest) {
        manager.schedule(
                manager.clock().nanoTime() - 1,
                fired -> {
                    if (left.get() % 1_000 == 0) {
                        deepest.accumulateAndGet(stackDepth(), Math::max);
                    }
                    if (left.decrementAndGet() > 0) {
                        setAgain(left, deepest);
                    }
                },
                Priority.NORMAL);
    }

    // ---- Cancelling ----

    @Test
    @DisplayName("grpc-6: a cancelled alarm gets false once, on the calling thread, before cancel returns")
    void aCancelledAlarmGetsFalse() {
        for (boolean blocking : new boolean[] {false, true}) {
            Bell bell = new Bell(manager);
            AlarmKey key = manager.schedule(FAR, bell);
            assertThat(cancel(key, blocking)).isEqualTo(CancelResult.CANCELLED);
            assertThat(bell.stopped).hasValue(1);
            assertThat(bell.thread).hasValue(Thread.currentThread());

            assertThat(manager.cancel(key)).isEqualTo(CancelResult.DONE);
            assertThat(EventManagerContract.waitCancel(manager, key)).isEqualTo(CancelResult.DONE);
            turns(manager);
            assertThat(bell.calls()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("grpc-6: an alarm that fired is DONE, and never gets false")
    void anAlarmThatFiredIsDone() {
        Bell bell = new Bell(manager);
        AlarmKey key = manager.schedule(Duration.ZERO, bell);
        bell.awaitFired(1);
        Await.until("it is over", () -> manager.cancel(key) == CancelResult.DONE);
        turns(manager);
        assertThat(bell.calls()).isEqualTo(1);
    }

    @Test
    @DisplayName("grpc-6, grpc-7: an alarm that cancels itself while it fires is RUNNING, and is called once")
    void anAlarmThatCancelsItselfIsRunning() {
        AtomicReference<@Nullable AlarmKey> key = new AtomicReference<>();
        Gate known = new Gate();
        AtomicInteger calls = new AtomicInteger();
        ConcurrentLinkedQueue<CancelResult> results = new ConcurrentLinkedQueue<>();
        AlarmKey set = manager.schedule(Duration.ZERO, fired -> {
            calls.incrementAndGet();
            known.run();
            AlarmKey own = key.get();
            if (own != null) {
                results.add(manager.cancel(own));
                results.add(EventManagerContract.waitCancel(manager, own));
            }
        });
        key.set(set);
        known.open();

        Await.until("both have returned", () -> results.size() == 2);
        assertThat(results).containsOnly(CancelResult.RUNNING);
        assertThat(EventManagerContract.waitCancel(manager, set)).isEqualTo(CancelResult.DONE);
        assertThat(calls).hasValue(1);
    }

    @Test
    @DisplayName("grpc-6, grpc-7: a cancelled alarm that cancels itself once more is RUNNING, and waits for nobody")
    void anAlarmIsCancelledOnce() {
        AtomicReference<@Nullable AlarmKey> key = new AtomicReference<>();
        ConcurrentLinkedQueue<CancelResult> results = new ConcurrentLinkedQueue<>();
        AlarmKey set = manager.schedule(FAR, fired -> {
            AlarmKey own = key.get();
            if (own != null) {
                results.add(manager.cancel(own));
                results.add(EventManagerContract.waitCancel(manager, own));
            }
        });
        key.set(set);
        assertThat(manager.cancel(set)).isEqualTo(CancelResult.CANCELLED);
        assertThat(results).containsExactly(CancelResult.RUNNING, CancelResult.RUNNING);
        assertThat(manager.cancel(set)).isEqualTo(CancelResult.DONE);
    }

    @Test
    @DisplayName("grpc-6: a cancelled alarm that throws does not keep cancel from its answer")
    void aCancelledAlarmMayThrow() {
        AlarmKey key = manager.schedule(FAR, fired -> {
            throw new IllegalStateException("thrown by a cancelled alarm of the test");
        });
        assertThat(manager.cancel(key)).isEqualTo(CancelResult.CANCELLED);
        assertThat(manager.cancel(key)).isEqualTo(CancelResult.DONE);
        turns(manager);
    }

    @Test
    @DisplayName("grpc-7: a blocking cancel waits for an alarm that fires")
    void aBlockingCancelWaitsForTheAlarm() {
        Gate gate = new Gate();
        AtomicBoolean ended = new AtomicBoolean();
        AlarmKey key = manager.schedule(Duration.ZERO, fired -> {
            gate.run();
            ended.set(true);
        });
        gate.awaitEntered();
        assertThat(manager.cancel(key)).isEqualTo(CancelResult.RUNNING);
        Background<Boolean> canceller = Background.call(() -> {
            assertThat(manager.cancelAndWait(key)).isEqualTo(CancelResult.DONE);
            return ended.get();
        });
        Await.until("it waits", () -> EventManagerContract.isWaiting(canceller.thread()));
        gate.open();
        assertThat(canceller.result()).isTrue();
    }

    @Test
    @DisplayName(
            "grpc-6: alarms raced by two cancels are called once each: true if they fired, false if a cancel was told"
                    + " so")
    void alarmsAndCancelsRace() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int rounds = 100;
        int alarms = 100;
        for (int round = 0; round < rounds; round++) {
            Bell[] bells = new Bell[alarms];
            AlarmKey[] keys = new AlarmKey[alarms];
            for (int i = 0; i < alarms; i++) {
                bells[i] = new Bell(manager);
                keys[i] = manager.schedule(
                        manager.clock().nanoTime() + random.nextInt(2_000_000), bells[i], Priority.NORMAL);
            }
            AtomicInteger cancelled = new AtomicInteger();
            ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
            Random theirs = new Random(random.nextLong());
            Background<Boolean> other = Background.run(() -> cancelAll(keys, bells, true, theirs, cancelled, wrong));
            cancelAll(keys, bells, false, random, cancelled, wrong);
            other.result();

            int stopped = 0;
            for (Bell bell : bells) {
                Await.until("it was called", () -> bell.calls() > 0);
                assertThat(bell.calls()).as("seed " + seed).isEqualTo(1);
                stopped += bell.stopped.get();
            }
            assertThat(wrong).as("seed " + seed).isEmpty();
            assertThat(cancelled).as("seed " + seed).hasValue(stopped);
        }
    }

    private void cancelAll(
            AlarmKey[] keys,
            Bell[] bells,
            boolean blocking,
            Random random,
            AtomicInteger cancelled,
            ConcurrentLinkedQueue<String> wrong) {
        for (int i = 0; i < keys.length; i++) {
            Await.spin(random.nextInt(200));
            CancelResult result = cancel(keys[i], blocking);
            Bell bell = bells[i];
            switch (result) {
                case CANCELLED -> {
                    cancelled.incrementAndGet();
                    if (bell.stopped.get() != 1 || !Thread.currentThread().equals(bell.thread.get())) {
                        wrong.add("CANCELLED, and not called on this thread");
                    }
                }
                case RUNNING -> {
                    if (blocking) {
                        wrong.add("RUNNING from outside, though it waited");
                    }
                }
                case DONE -> {}
            }
        }
    }

    private CancelResult cancel(AlarmKey key, boolean blocking) {
        return blocking ? EventManagerContract.waitCancel(manager, key) : manager.cancel(key);
    }

    // ---- Periodic alarms ----

    @Test
    @DisplayName(
            "grpc-17: a periodic alarm fires at a fixed rate, never early, and gets false once when it is cancelled")
    void aPeriodicAlarmFiresAgainAndAgain() {
        Duration first = Duration.ofMillis(3);
        Duration period = Duration.ofMillis(2);
        long start = manager.clock().nanoTime();
        Bell bell = new Bell(manager);
        AtomicInteger early = new AtomicInteger();
        AlarmCallback checked = fired -> {
            long passed = manager.clock().nanoTime() - start;
            if (fired && passed < first.toNanos() + period.toNanos() * bell.fired.get()) {
                early.incrementAndGet();
            }
            bell.onAlarm(fired);
        };
        AlarmKey key = manager.scheduleEvery(first, period, checked, Priority.HIGH);
        bell.awaitFired(20);

        CancelResult result = EventManagerContract.waitCancel(manager, key);
        int fired = bell.fired.get();
        assertThat(result).isIn(CancelResult.CANCELLED, CancelResult.DONE);
        assertThat(bell.stopped).hasValue(result == CancelResult.CANCELLED ? 1 : 0);
        turns(manager);
        assertThat(bell.fired).hasValue(fired);
        assertThat(early).hasValue(0);
        assertThat(bell.wrong).isEmpty();
        assertThat(manager.cancel(key)).isEqualTo(CancelResult.DONE);
    }

    @Test
    @DisplayName("grpc-17: times that a periodic alarm has missed are left out, and the rate stays")
    void missedTimesAreLeftOut() {
        ManualClock clock = new ManualClock();
        EventManager slow = openOn(clock);
        Bell bell = new Bell(slow);
        AtomicBoolean stall = new AtomicBoolean(true);
        slow.scheduleEvery(
                SECOND,
                SECOND,
                fired -> {
                    if (stall.getAndSet(false)) {
                        clock.advance(SECOND.multipliedBy(9)); // a slow callback: from 1 s to 10 s
                    }
                    bell.onAlarm(fired);
                },
                Priority.NORMAL);
        turns(slow);
        assertThat(bell.calls()).isZero();

        clock.advance(SECOND.plus(TICK));
        bell.awaitFired(1);
        turns(slow);
        clock.advance(SECOND);
        bell.awaitFired(2); // for 11 s, if not before: one missed time may still be served, eight may not
        turns(slow);
        assertThat(bell.fired.get()).isLessThanOrEqualTo(3);
        for (int i = 0; i < 3; i++) {
            int before = bell.fired.get();
            clock.advance(SECOND);
            bell.awaitFired(before + 1);
            turns(slow);
        }
        assertThat(bell.fired.get()).isBetween(5, 6);
    }

    @Test
    @DisplayName("grpc-17: a periodic alarm that cancels itself is not called again, not with false either")
    void aPeriodicAlarmMayCancelItself() {
        for (boolean blocking : new boolean[] {false, true}) {
            AtomicReference<@Nullable AlarmKey> key = new AtomicReference<>();
            ConcurrentLinkedQueue<CancelResult> results = new ConcurrentLinkedQueue<>();
            Bell bell = new Bell(manager);
            AlarmKey set = manager.scheduleEvery(
                    Duration.ZERO,
                    Duration.ofMillis(1),
                    fired -> {
                        bell.onAlarm(fired);
                        AlarmKey own = key.get();
                        if (own != null) {
                            results.add(cancel(own, blocking));
                        }
                    },
                    Priority.NORMAL);
            key.set(set);
            Await.until("it has cancelled itself", () -> !results.isEmpty());
            Await.until("it is over", () -> manager.cancel(set) == CancelResult.DONE);
            Bell later = new Bell(manager);
            manager.schedule(Duration.ofMillis(5), later);
            later.awaitFired(1);

            assertThat(results).containsExactly(CancelResult.RUNNING);
            assertThat(bell.stopped).hasValue(0);
        }
    }

    @Test
    @DisplayName("grpc-17: a periodic alarm cancelled while it runs does not run again")
    void aRunningPeriodicAlarmDoesNotRunAgain() {
        Gate gate = new Gate();
        AtomicInteger calls = new AtomicInteger();
        AlarmKey key = manager.scheduleEvery(
                Duration.ZERO,
                Duration.ofMillis(1),
                fired -> {
                    calls.incrementAndGet();
                    gate.run();
                },
                Priority.NORMAL);
        gate.awaitEntered();
        assertThat(manager.cancel(key)).isEqualTo(CancelResult.RUNNING);
        Background<CancelResult> waiting = Background.call(() -> manager.cancelAndWait(key));
        gate.open();

        assertThat(waiting.result()).isEqualTo(CancelResult.DONE);
        CountDownLatch later = new CountDownLatch(1);
        manager.schedule(Duration.ofMillis(5), fired -> later.countDown());
        await("some periods pass", later);
        assertThat(calls).hasValue(1);
    }

    @Test
    @DisplayName("grpc-17: a periodic alarm that throws comes again all the same")
    void aPeriodicAlarmMayThrow() {
        AtomicInteger calls = new AtomicInteger();
        AlarmKey key = manager.scheduleEvery(
                Duration.ZERO,
                Duration.ofMillis(1),
                fired -> {
                    if (calls.incrementAndGet() <= 2) {
                        throw new IllegalStateException("thrown by a periodic alarm of the test");
                    }
                },
                Priority.NORMAL);
        Await.until("it comes again", () -> calls.get() >= 5);
        manager.cancel(key);
    }

    @Test
    @DisplayName("grpc-17: a period must be positive")
    void aPeriodMustBePositive() {
        for (Duration wrong : List.of(Duration.ZERO, Duration.ofMillis(-1))) {
            assertThatThrownBy(() -> manager.scheduleEvery(SECOND, wrong, fired -> {}, Priority.NORMAL))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        turns(manager);
    }
}
