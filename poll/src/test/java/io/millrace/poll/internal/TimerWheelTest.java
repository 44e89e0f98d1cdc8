package io.millrace.poll.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a {@link TimerWheel} promises, case by case. Time is an argument; {@link TimerWheelModelTest} tries the rest.
 */
class TimerWheelTest {
    private static final long TICK = 100;
    private static final long START = -1_000_000_007;

    private final TimerWheel<String> wheel = new TimerWheel<>(TICK, 64, 1_000, START);

    private long schedule(long deadline, String value) {
        return wheel.schedule(START, deadline, value);
    }

    /** Advances to a time since the start and takes all that is due. */
    private List<String> firedBy(long time) {
        wheel.advance(START + time);
        return drain(wheel);
    }

    private long untilNext(long time) {
        return wheel.nanosUntilNext(START + time);
    }

    private static <T> List<T> drain(TimerWheel<T> wheel) {
        List<T> values = new ArrayList<>();
        for (T value = wheel.pollDue(); value != null; value = wheel.pollDue()) {
            values.add(value);
        }
        assertThat(wheel.hasDue()).isFalse();
        return values;
    }

    @Nested
    class Time {
        @ParameterizedTest
        @ValueSource(longs = {1, 99, 100, 101, 6_399, 6_400, 6_401, 409_601, 26_214_401, 1L << 50})
        @DisplayName("mio-18, mio-23: never early, at most one tick late")
        void anEntryFiresAtItsDeadlineRoundedUpToTheTick(long deadline) {
            long fireTime = Math.ceilDiv(deadline, TICK) * TICK;
            schedule(deadline, "a");

            assertThat(untilNext(0)).isEqualTo(fireTime);
            assertThat(firedBy(deadline - 1)).isEmpty();
            assertThat(firedBy(fireTime - 1)).isEmpty();
            assertThat(untilNext(fireTime - 1)).isEqualTo(1);
            assertThat(firedBy(fireTime)).containsExactly("a");
            assertThat(fireTime - deadline).isBetween(0L, TICK - 1);
        }

        @Test
        void theGridBeginsAtTheStartNotAtTheTimeOfScheduling() {
            wheel.schedule(START + 50, 120, "a");

            assertThat(firedBy(199)).isEmpty();
            assertThat(firedBy(200)).containsExactly("a");
        }

        @ParameterizedTest
        @ValueSource(longs = {0, -1, Long.MIN_VALUE})
        void aDelayThatIsNotPositiveIsDueAtOnceOnTheGridAndElseAtTheNextTick(long delay) {
            wheel.schedule(START, delay, "on the grid");
            wheel.schedule(START + 1, delay, "off the grid");

            assertThat(untilNext(0)).isZero();
            assertThat(wheel.hasDue()).as("only advance makes due").isFalse();
            assertThat(firedBy(0)).containsExactly("on the grid");
            assertThat(untilNext(0)).isEqualTo(TICK);
            assertThat(firedBy(TICK)).containsExactly("off the grid");
        }

        @Test
        void anEntryThatIsPastWhenScheduledIsDueAtTheNextAdvance() {
            firedBy(1_000);
            wheel.schedule(START + 300, 10, "late");
            wheel.schedule(START - 300, 10, "before the start");

            assertThat(untilNext(1_000)).isZero();
            assertThat(firedBy(1_000)).containsExactly("before the start", "late");
        }

        @Test
        void timeDoesNotRunBackwards() {
            schedule(500, "a");
            firedBy(1_000);
            schedule(1_500, "b");

            assertThat(firedBy(200)).isEmpty();
            assertThat(untilNext(200)).isEqualTo(500);
            assertThat(firedBy(1_499)).isEmpty();
            assertThat(firedBy(1_500)).containsExactly("b");
        }

        @ParameterizedTest
        @ValueSource(longs = {Long.MAX_VALUE - 5, Long.MAX_VALUE, Long.MIN_VALUE, -1, 0})
        void theClockMayWrapRound(long start) {
            TimerWheel<String> wrapping = new TimerWheel<>(TICK, 64, 10, start);
            wrapping.schedule(start + 3, 1_000_000, "far");
            wrapping.schedule(start + 3, 4, "near");

            assertThat(wrapping.nanosUntilNext(start + 4)).isEqualTo(96);
            assertThat(wrapping.advance(start + 99)).isZero();
            assertThat(wrapping.advance(start + 100)).isOne();
            assertThat(wrapping.pollDue()).isEqualTo("near");
            assertThat(wrapping.advance(start + 1_000_099)).isZero();
            assertThat(wrapping.advance(start + 1_000_100)).isOne();
            assertThat(wrapping.pollDue()).isEqualTo("far");
        }

        @ParameterizedTest
        @ValueSource(longs = {1, 7, 100, 1_000_000, Long.MAX_VALUE / 2 + 1, Long.MAX_VALUE})
        @DisplayName("mio-23: huge delays saturate")
        void whatLiesBeyondTheLastTickFiresAtTheLastTick(long tick) {
            long last = Long.MAX_VALUE / tick * tick;
            TimerWheel<String> wheel = new TimerWheel<>(tick, 64, 10, START);
            wheel.schedule(START, Long.MAX_VALUE, "a");
            wheel.advance(START + 12_345);
            wheel.schedule(START + 12_345, Long.MAX_VALUE, "b");
            wheel.schedule(START + 12_345, Long.MAX_VALUE - 12_345, "c");

            assertThat(wheel.nanosUntilNext(START + 12_345)).isEqualTo(last - 12_345);
            assertThat(wheel.advance(START + last - 1)).isZero();
            assertThat(wheel.advance(START + last)).isEqualTo(3);
            assertThat(drain(wheel)).containsExactly("a", "b", "c");
        }

        @Test
        void aStallOfYearsHopsOverTheEmptyTicks() {
            // 2^62 ticks: this ends within the build's time limit only if none of them is visited.
            TimerWheel<Long> fine = new TimerWheel<>(1, 64, 100, START);
            for (int bit = 0; bit < 62; bit++) {
                fine.schedule(START, 1L << bit, 1L << bit);
            }
            fine.advance(START + (1L << 62) - 1);

            assertThat(drain(fine)).hasSize(62).isSorted();
        }
    }

    @Nested
    class Order {
        @Test
        @DisplayName("mio-23: equal deadlines in insertion order")
        void equalDeadlinesFireInInsertionOrder() {
            List<String> values =
                    IntStream.range(0, 500).mapToObj(Integer::toString).toList();
            values.forEach(value -> schedule(250, value));

            assertThat(firedBy(300)).isEqualTo(values);
        }

        @Test
        @DisplayName("mio-23: equal deadlines in insertion order, whatever was cancelled between them")
        void cancellingDoesNotDisturbTheOrderOfTheOthers() {
            List<String> kept = new ArrayList<>();
            List<Long> cancelled = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                long key = schedule(250, "" + i);
                if (i % 3 == 0) {
                    cancelled.add(key);
                } else {
                    kept.add("" + i);
                }
            }
            cancelled.forEach(wheel::cancel);

            assertThat(firedBy(300)).isEqualTo(kept);
        }

        @Test
        void entriesOfOneTickFireByTheirExactDeadline() {
            schedule(299, "c");
            schedule(201, "a");
            schedule(300, "d");
            schedule(250, "b");

            assertThat(firedBy(300)).containsExactly("a", "b", "c", "d");
        }

        @ParameterizedTest
        @ValueSource(ints = {2, 32, 33, 65, 900})
        void aFullTickIsInOrderWhateverTheOrderOfInsertion(int count) {
            TimerWheel<Long> coarse = new TimerWheel<>(1_000_000, 64, 1_000, START);
            List<Long> deadlines = new ArrayList<>();
            for (long i = 0; i < count; i++) {
                deadlines.add(500_000 + i / 2);
            }
            List<Long> expected = List.copyOf(deadlines);
            Collections.shuffle(deadlines, new Random(count));
            deadlines.forEach(deadline -> coarse.schedule(START, deadline, deadline));
            coarse.advance(START + 1_000_000);

            assertThat(drain(coarse)).isEqualTo(expected);
        }

        @Test
        void oneAdvanceOverManyTicksAndLevelsFiresByDeadline() {
            TimerWheel<Long> wide = new TimerWheel<>(TICK, 64, 10_000, START);
            Random random = new Random(42);
            for (int i = 0; i < 10_000; i++) {
                long deadline = random.nextLong(1L << random.nextInt(1, 40));
                wide.schedule(START, deadline, deadline);
            }

            assertThat(wide.advance(START + (1L << 40))).isEqualTo(10_000);
            assertThat(drain(wide)).isSorted();
        }

        @Test
        void whatWasDueEarlierStaysAheadOfWhatFiresLater() {
            schedule(100, "a");
            schedule(200, "b");
            wheel.advance(START + 100);
            wheel.schedule(START + 100, -5, "c");

            assertThat(wheel.advance(START + 200)).isEqualTo(3);
            assertThat(drain(wheel)).containsExactly("a", "c", "b");
        }

        @Test
        void anEntryFromAnUpperLevelFiresWithItsNeighboursOfLevelZero() {
            schedule(6_450, "inserted early: level 1");
            firedBy(6_000);
            schedule(6_440, "inserted late: level 0");
            schedule(6_450, "inserted last");

            assertThat(firedBy(6_500))
                    .containsExactly("inserted late: level 0", "inserted early: level 1", "inserted last");
        }
    }

    @Nested
    class Keys {
        @Test
        void cancelReturnsTheValueOnce() {
            long key = schedule(250, "a");

            assertThat(wheel.cancel(key)).isEqualTo("a");
            assertThat(wheel.cancel(key)).isNull();
            assertThat(wheel.isEmpty()).isTrue();
            assertThat(firedBy(1_000)).isEmpty();
        }

        @Test
        void whatIsDueCanStillBeCancelled() {
            long first = schedule(100, "a");
            long second = schedule(100, "b");
            schedule(100, "c");
            long last = schedule(100, "d");
            assertThat(wheel.advance(START + 100)).isEqualTo(4);

            assertThat(wheel.cancel(second)).isEqualTo("b");
            assertThat(wheel.cancel(first)).isEqualTo("a");
            assertThat(wheel.cancel(first)).isNull();
            assertThat(wheel.dueCount()).isEqualTo(2);
            assertThat(wheel.pollDue()).isEqualTo("c");
            assertThat(wheel.cancel(last)).isEqualTo("d");
            assertThat(wheel.hasDue()).isFalse();
            assertThat(wheel.pollDue()).isNull();
            assertThat(wheel.isEmpty()).isTrue();
        }

        @Test
        @DisplayName("mio-23: cancel after fire can't hit the slot's next owner")
        void aStaleKeyDoesNotReachTheNextOwnerOfItsPlace() {
            long fired = schedule(100, "a");
            assertThat(firedBy(100)).containsExactly("a");
            long cancelled = schedule(200, "b");
            wheel.cancel(cancelled);
            long owner = schedule(300, "c");
            assertThat((int) owner)
                    .as("the place is the same, or this tests nothing")
                    .isEqualTo((int) fired)
                    .isEqualTo((int) cancelled);

            assertThat(wheel.cancel(fired)).isNull();
            assertThat(wheel.cancel(cancelled)).isNull();
            assertThat(wheel.reschedule(fired, START, 5_000)).isFalse();
            assertThat(wheel.reschedule(cancelled, START, 5_000)).isFalse();
            assertThat(firedBy(300)).containsExactly("c");
        }

        @ParameterizedTest
        @ValueSource(longs = {0, 1, -1, 1L << 32, 7L << 32, 1L << 31, 1L << 62, Long.MAX_VALUE, Long.MIN_VALUE})
        void aKeyThatWasNeverIssuedFindsNothing(long key) {
            assertThat(wheel.cancel(key)).isNull();
            assertThat(wheel.reschedule(key, START, 10)).isFalse();

            // Now index 0 is free, and generation 1 of it is the next to be issued.
            wheel.cancel(schedule(100, "a"));
            assertThat(wheel.cancel(key)).isNull();
            assertThat(wheel.reschedule(key, START, 10)).isFalse();

            long live = schedule(100, "b");
            if (key != live) {
                assertThat(wheel.cancel(key)).isNull();
            }
            assertThat(wheel.size()).isOne();
        }

        @Test
        @DisplayName("mio-23: generations do not wrap: a place is given up instead")
        void aKeyIsNeverIssuedTwice() {
            TimerWheel<String> shortLived = new TimerWheel<>(TICK, 64, 2, START, 3, 4_096);
            List<Long> keys = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                for (long key : keys) {
                    assertThat(shortLived.cancel(key)).isNull();
                }
                long key = shortLived.schedule(START, 100, "" + i);
                keys.add(key);
                assertThat(shortLived.cancel(key)).isEqualTo("" + i);
            }

            assertThat(keys).doesNotHaveDuplicates().allMatch(key -> key >= 0);
            assertThat(keys.stream().map(Long::intValue).distinct())
                    .as("four generations a place")
                    .hasSize(10);
        }

        @Test
        void everyLiveEntryIsShown() {
            schedule(50, "due");
            long cancelled = schedule(60, "cancelled");
            schedule(40, "polled");
            wheel.advance(START + 100);
            assertThat(wheel.pollDue()).isEqualTo("polled");
            wheel.cancel(cancelled);
            schedule(500, "near");
            schedule(1L << 40, "far");
            List<String> shown = new ArrayList<>();
            wheel.forEach(shown::add);
            assertThat(shown).containsExactlyInAnyOrder("due", "near", "far");
        }

        @Test
        void clearEndsEveryEntryAndItsKey() {
            long due = schedule(50, "due");
            wheel.advance(START + 100);
            long near = schedule(500, "near");
            long far = schedule(1L << 40, "far");
            wheel.clear();

            assertThat(wheel.isEmpty()).isTrue();
            assertThat(wheel.hasDue()).isFalse();
            assertThat(untilNext(100)).isEqualTo(Long.MAX_VALUE);
            schedule(700, "next");
            assertThat(wheel.cancel(due)).isNull();
            assertThat(wheel.cancel(near)).isNull();
            assertThat(wheel.cancel(far)).isNull();
            assertThat(firedBy(1L << 41)).containsExactly("next");
        }

        @Test
        void aWheelDoesNotHoldOnToTheValuesOfDeadEntries() {
            TimerWheel<Object> holder = new TimerWheel<>(TICK, 64, 10, START);
            List<WeakReference<Object>> dead = List.of(polled(holder), cancelled(holder), cancelledWhenDue(holder));
            System.gc();

            assertThat(dead).allMatch(reference -> reference.refersTo(null));
            assertThat(holder.isEmpty()).isTrue();
        }

        private WeakReference<Object> polled(TimerWheel<Object> holder) {
            holder.schedule(START, 0, new Object());
            holder.advance(START);
            return new WeakReference<>(holder.pollDue());
        }

        private WeakReference<Object> cancelled(TimerWheel<Object> holder) {
            return new WeakReference<>(holder.cancel(holder.schedule(START, 1L << 40, new Object())));
        }

        private WeakReference<Object> cancelledWhenDue(TimerWheel<Object> holder) {
            long key = holder.schedule(START, 0, new Object());
            holder.advance(START);
            return new WeakReference<>(holder.cancel(key));
        }
    }

    @Nested
    class Moving {
        @ParameterizedTest
        @CsvSource({"250, 251", "250, 299", "250, 5000", "250, 999999", "999999, 9999999999", "250, 250"})
        void aMoveLaterFiresAtTheNewDeadlineWithAtMostOneWakeUpBefore(long from, long to) {
            long key = schedule(from, "a");
            assertThat(wheel.reschedule(key, START, to)).isTrue();

            long fireTime = Math.ceilDiv(to, TICK) * TICK;
            long wakeUp = untilNext(0);
            assertThat(wakeUp).isLessThanOrEqualTo(fireTime);
            if (wakeUp < fireTime) {
                assertThat(firedBy(wakeUp)).isEmpty();
                assertThat(wakeUp + untilNext(wakeUp)).isEqualTo(fireTime);
            }
            assertThat(firedBy(fireTime - 1)).isEmpty();
            assertThat(untilNext(fireTime - 1)).isEqualTo(1);
            assertThat(firedBy(fireTime)).containsExactly("a");
        }

        @ParameterizedTest
        @CsvSource({"251, 250", "5000, 250", "999999, 250", "9999999999, 999999", "6450, 6430", "250, 1"})
        void aMoveEarlierFiresAtTheNewDeadline(long from, long to) {
            long key = schedule(from, "a");
            assertThat(wheel.reschedule(key, START, to)).isTrue();

            long fireTime = Math.ceilDiv(to, TICK) * TICK;
            assertThat(untilNext(0)).isLessThanOrEqualTo(fireTime);
            assertThat(firedBy(fireTime - 1)).isEmpty();
            assertThat(firedBy(fireTime)).containsExactly("a");
        }

        @Test
        void aMoveEarlierShortensTheWait() {
            long key = schedule(900, "a");
            wheel.reschedule(key, START, 250);

            assertThat(untilNext(0)).isEqualTo(300);
        }

        @Test
        void movesAddUpToTheLastOne() {
            long key = schedule(250, "a");
            wheel.reschedule(key, START, 90_000);
            wheel.reschedule(key, START, 4_000);
            wheel.reschedule(key, START, 700_000);
            wheel.reschedule(key, START, 60_000);

            assertThat(firedBy(59_999)).isEmpty();
            assertThat(firedBy(60_000)).containsExactly("a");
            assertThat(firedBy(1_000_000)).isEmpty();
        }

        @Test
        @DisplayName("a timeout that every packet pushes back costs one wake-up per timeout, not per packet")
        void anIdleTimeoutWakesOncePerPeriod() {
            long key = schedule(10_000, "idle");
            int wakeUps = 0;
            for (long now = 0; now < 1_000_000; now += 10) {
                if (untilNext(now) == 0) {
                    assertThat(wheel.advance(START + now)).isZero();
                    wakeUps++;
                }
                wheel.reschedule(key, START + now, 10_000);
            }

            assertThat(wakeUps).isBetween(98, 101);
        }

        @Test
        @DisplayName("mio-23: a moved entry counts as inserted when it was moved")
        void amongEqualDeadlinesAMovedEntryIsTheLast() {
            long later = schedule(210, "later");
            long same = schedule(250, "same");
            long earlier = schedule(290, "earlier");
            schedule(250, "unmoved");
            wheel.reschedule(earlier, START, 250);
            wheel.reschedule(same, START, 250);
            wheel.reschedule(later, START, 250);

            assertThat(firedBy(300)).containsExactly("unmoved", "earlier", "same", "later");
        }

        @Test
        void whatIsDueOrDeadCannotBeMoved() {
            long key = schedule(100, "a");
            wheel.advance(START + 100);
            assertThat(wheel.reschedule(key, START + 100, 500)).isFalse();
            assertThat(wheel.pollDue()).isEqualTo("a");
            assertThat(wheel.reschedule(key, START + 100, 500)).isFalse();
            assertThat(wheel.isEmpty()).isTrue();
        }

        @Test
        void whatHasFiredButWasNotAdvancedToCanStillBeMoved() {
            long key = schedule(100, "a");

            assertThat(untilNext(500)).isZero();
            assertThat(wheel.reschedule(key, START + 500, 300)).isTrue();
            assertThat(firedBy(500)).isEmpty();
            assertThat(firedBy(800)).containsExactly("a");
        }
    }

    @Nested
    class Waiting {
        @Test
        void anEmptyWheelWaitsForEver() {
            assertThat(untilNext(0)).isEqualTo(Long.MAX_VALUE);
            schedule(100, "a");
            firedBy(100);
            assertThat(untilNext(100)).isEqualTo(Long.MAX_VALUE);
        }

        @Test
        void whatIsDueAlreadyDoesNotShortenTheWaitForMore() {
            schedule(100, "a");
            schedule(1_000, "b");
            wheel.advance(START + 100);

            assertThat(untilNext(100)).isEqualTo(900);
            wheel.advance(START + 1_000);
            assertThat(wheel.dueCount()).isEqualTo(2);
            assertThat(untilNext(1_000)).isEqualTo(Long.MAX_VALUE);
        }

        @Test
        void theWaitIsExactInEveryLevel() {
            long[] deadlines = {1L << 45, 1L << 33, 80_000_000, 700_000, 650_100, 7_000, 6_500, 300};
            for (long deadline : deadlines) {
                schedule(deadline, "a");
                assertThat(untilNext(0)).isEqualTo(Math.ceilDiv(deadline, TICK) * TICK);
            }
        }

        @Test
        @DisplayName("I2: a bound that a cancel left behind wakes once, and does not spin")
        void aCancelledEntryCausesAtMostOneWakeUp() {
            schedule(700_000, "kept");
            wheel.cancel(schedule(650_100, "cancelled, of the same slot of level 1"));

            assertThat(untilNext(0)).isBetween(1L, 700_000L);
            long now = untilNext(0);
            assertThat(firedBy(now)).isEmpty();
            assertThat(now + untilNext(now)).isEqualTo(700_000);
            assertThat(firedBy(700_000)).containsExactly("kept");
        }
    }

    @Nested
    class Limits {
        @Test
        @DisplayName("mio-23: full: IllegalStateException and nothing changed")
        void aFullWheelRefusesAndStaysAsItWas() {
            TimerWheel<String> small = new TimerWheel<>(TICK, 64, 2, START);
            small.schedule(START, 300, "b");
            long due = small.schedule(START, 100, "a");
            small.advance(START + 100);

            assertThatIllegalStateException()
                    .isThrownBy(() -> small.schedule(START, 150, "refused"))
                    .withMessageContaining("cannot schedule")
                    .withMessageContaining("full, with 2 live entries")
                    .withMessageContaining("capacity");
            assertThat(small.size()).isEqualTo(2);
            assertThat(small.dueCount()).isOne();
            assertThat(small.nanosUntilNext(START + 100)).isEqualTo(200);

            assertThat(small.cancel(due)).isEqualTo("a");
            small.schedule(START, 300, "c");
            small.advance(START + 1_000);
            assertThat(drain(small)).containsExactly("b", "c");
        }

        @Test
        void whatIsDueCountsAgainstTheCapacityUntilItIsPolled() {
            TimerWheel<String> single = new TimerWheel<>(TICK, 64, 1, START);
            single.schedule(START, 0, "a");
            single.advance(START);
            assertThatIllegalStateException().isThrownBy(() -> single.schedule(START, 0, "b"));
            assertThat(single.pollDue()).isEqualTo("a");
            single.schedule(START, 0, "b");
            assertThat(single.size()).isOne();
        }

        @ParameterizedTest
        @CsvSource({
            "0, 64, 1, tickNanos is 0",
            "-5, 64, 1, tickNanos is -5",
            "1, 0, 1, slots is 0",
            "1, -64, 1, slots is -64",
            "1, 65537, 1, slots is 65537",
            "1, 64, 0, capacity is 0",
            "1, 64, -1, capacity is -1",
            "1, 64, 2147483647, capacity is 2147483647"
        })
        void aBadArgumentIsNamedWithItsRange(long tick, int slots, int capacity, String message) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new TimerWheel<String>(tick, slots, capacity, START))
                    .withMessageContaining("cannot make a timer wheel: " + message + ", not 1 to ");
        }

        @Test
        void aNullValueIsRefused() {
            assertThatNullPointerException()
                    .isThrownBy(() -> wheel.schedule(START, 1, null))
                    .withMessage("value");
            assertThat(wheel.isEmpty()).isTrue();
        }

        @ParameterizedTest
        @ValueSource(ints = {1, 63, 64, 65, 100, 4_096, 65_535, 65_536})
        void anyNumberOfSlotsFiresTheSame(int slots) {
            TimerWheel<Long> wheel = new TimerWheel<>(TICK, slots, 10_000, START);
            for (long deadline = TICK; deadline <= 10_000 * TICK; deadline += TICK) {
                wheel.schedule(START, deadline, deadline);
            }
            for (long now = 0; now <= 10_000 * TICK; now += TICK) {
                wheel.advance(START + now);
                assertThat(wheel.pollDue()).isEqualTo(now == 0 ? null : (Long) now);
                assertThat(wheel.pollDue()).isNull();
            }
        }

        @Test
        void growingBeyondAllChunksLosesNothing() {
            int count = 100_000;
            TimerWheel<Integer> large = new TimerWheel<>(TICK, 64, count, START);
            List<Long> keys = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                keys.add(large.schedule(START, i, i));
            }
            for (int i = 0; i < count; i += 2) {
                assertThat(large.cancel(keys.get(i))).isEqualTo(i);
            }
            large.advance(START + count);

            assertThat(drain(large))
                    .isEqualTo(IntStream.range(0, count)
                            .filter(i -> i % 2 == 1)
                            .boxed()
                            .toList());
        }

        @Test
        void aQueueThatIsNeverDrainedKeepsItsOrderAndForgetsItsGaps() {
            List<String> expected = new ArrayList<>(List.of("held"));
            schedule(0, "held");
            for (int round = 1; round < 1_000; round++) {
                long key = schedule(round * TICK, "cancelled " + round);
                if (round % 100 == 0) {
                    schedule(round * TICK, "kept " + round);
                    expected.add("kept " + round);
                }
                wheel.advance(START + round * TICK);
                assertThat(wheel.cancel(key)).isEqualTo("cancelled " + round);
                assertThat(wheel.dueCount()).isEqualTo(expected.size());
            }

            assertThat(drain(wheel)).isEqualTo(expected);
        }
    }

    /** end-5: what an advance does is bounded. {@link TimerWheelMemoryTest}: and so is what it allocates. */
    @Nested
    class Steps {
        private static final int MANY = 200_000;
        private static final int STEP = 4_096;
        private static final long COARSE = 1_000_000;

        private final TimerWheel<Long> many = new TimerWheel<>(COARSE, 64, 2 * MANY, START);
        private final Random random = new Random(42);

        /** Advances step by step, until it is done. */
        private List<Long> firedInSteps(long time, int budget) {
            List<Long> fired = new ArrayList<>();
            do {
                long before = many.work();
                many.advance(START + time, budget);
                List<Long> now = drain(many);
                // What fires is touched: else it would not be counted, and the bound would hold whatever was done.
                assertThat(many.work() - before).isBetween((long) now.size(), budget + STEP - 1L);
                fired.addAll(now);
                assertThat(many.isBehind()).isEqualTo(many.nanosUntilNext(START + time) == 0);
            } while (many.isBehind());
            return fired;
        }

        @ParameterizedTest
        @ValueSource(longs = {1, 2, 1_000, COARSE, 63 * COARSE, 4_000 * COARSE, 1L << 50})
        @DisplayName(
                "end-5: however many fire together, however far they have come, no step touches more than its budget and 4,095 more")
        void noStepIsLargerThanItsBudget(long span) {
            long from = 100 * COARSE + 1;
            List<Long> expected = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                long deadline = from + random.nextLong(span);
                many.schedule(START, deadline, deadline << 1 | i & 1);
                expected.add(deadline << 1 | i & 1);
            }
            // Stable: equal deadlines in the order of insertion, which the last bit shows.
            expected.sort((a, b) -> Long.compare(a >> 1, b >> 1));
            assertThat(firedInSteps(from + span + COARSE, 1_000)).isEqualTo(expected);
            assertThat(many.isEmpty()).isTrue();
        }

        @Test
        @DisplayName(
                "end-5: equal deadlines in insertion order, also if half of them were moved, and half of those cancelled between two steps")
        void equalDeadlinesInSteps() {
            List<Long> keys = new ArrayList<>();
            for (long i = 0; i < MANY; i++) {
                keys.add(many.schedule(START, 100 * COARSE, i));
            }
            List<Long> expected = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                if (i % 2 == 0) {
                    assertThat(many.reschedule(keys.get(i), START, 100 * COARSE))
                            .isTrue();
                } else {
                    expected.add((long) i);
                }
            }
            many.advance(START + 100 * COARSE, 100_000);
            assertThat(many.hasDue()).isFalse();
            for (int i = 0; i < MANY; i += 2) {
                if (i % 4 == 0) {
                    assertThat(many.cancel(keys.get(i))).isEqualTo(i);
                } else {
                    expected.add((long) i);
                }
            }
            assertThat(firedInSteps(100 * COARSE, 1_000)).isEqualTo(expected);
        }

        @Test
        @DisplayName(
                "end-5: between two steps an entry of the tick that is being fired can be moved, out of it or behind the others")
        void whatIsNotDueYetCanBeMovedBetweenTwoSteps() {
            List<Long> keys = new ArrayList<>();
            for (long i = 0; i < MANY; i++) {
                keys.add(many.schedule(START, COARSE, i));
            }
            many.advance(START + COARSE, MANY / 2);
            // The last ones came into the split first.
            for (int moved : new int[] {0, MANY - 1}) {
                assertThat(many.reschedule(keys.get(moved), START, 2 * COARSE)).isTrue();
            }
            for (int moved : new int[] {1, MANY - 2}) {
                assertThat(many.reschedule(keys.get(moved), START, COARSE - 1)).isTrue();
            }
            List<Long> fired = firedInSteps(COARSE, 1_000);
            assertThat(fired).hasSize(MANY - 2).endsWith(MANY - 3L, 1L, MANY - 2L);
            assertThat(firedInSteps(2 * COARSE, 1_000)).containsExactly(0L, MANY - 1L);
        }

        @Test
        @DisplayName(
                "end-5: whoever adds what has fired already, as fast as the wheel advances, does not keep the others from firing")
        void lateComersDoNotHoldUpATick() {
            for (long i = 0; i < MANY; i++) {
                many.schedule(START, COARSE, i);
            }
            List<Long> fired = new ArrayList<>();
            for (int steps = 0; fired.size() < MANY; steps++) {
                assertThat(steps).isLessThan(4 * MANY / 1_000);
                many.advance(START + COARSE, 1_000);
                fired.addAll(drain(many));
                for (int i = 0; i < 1_000 && many.size() < 2 * MANY; i++) {
                    many.schedule(START, 0, -1L);
                }
            }
            assertThat(fired.subList(0, MANY))
                    .isEqualTo(LongStream.range(0, MANY).boxed().toList());
        }
    }
}
