package io.millrace.poll.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random operations on a {@link TimerWheel} and on a sorted map side by side. The map says exactly what is due, in
 * which order, and when the next is. A failure names its seed; {@code -Dmillrace.wheel.seed=…} runs that one alone.
 */
class TimerWheelModelTest {
    /** A hundred take seconds. Five times as many as this would take a quarter of an hour, which nobody waits for. */
    private static final int SEEDS = Boolean.getBoolean("millrace.soak") ? 4_000 : 100;

    private static final int OPERATIONS = 2_000;
    private static final long[] TICKS = {1, 3, 1_000, 1_000_000, 100_000_000, 3_600_000_000_000L};
    private static final long[] STARTS = {0, -1, Long.MAX_VALUE - 5, Long.MIN_VALUE, 123_456_789};

    static LongStream seeds() {
        Long only = Long.getLong("millrace.wheel.seed");
        return only != null ? LongStream.of(only) : LongStream.range(0, SEEDS);
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    @DisplayName("mio-18, mio-23: exactly what a sorted map says")
    void theWheelFiresExactlyWhatASortedMapSays(long seed) {
        Run run = new Run(seed, true, false);
        for (int i = 0; i < OPERATIONS; i++) {
            run.step(i);
        }
        run.finish();
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    @DisplayName("mio-23: without cancels and moves the wait is exact")
    void withoutCancelsAndMovesTheWaitIsExact(long seed) {
        Run run = new Run(seed, false, false);
        for (int i = 0; i < OPERATIONS; i++) {
            run.step(i);
        }
        run.finish();
        assertThat(run.spuriousWakeUps).as(run.where).isZero();
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    @DisplayName(
            "end-5: an advance in steps, with changes between them, fires the same in the same order, and no step is too large")
    void inStepsToo(long seed) {
        Run run = new Run(seed, true, true);
        for (int i = 0; i < OPERATIONS; i++) {
            run.step(i);
        }
        run.finish();
    }

    /**
     * An entry as the model has it. Times are since the start.
     *
     * @param tick when it fires: that of its deadline, or that at which the wheel was when it came, if that is later
     * @param window if it came during an advance, for the tick that was being fired: between which two steps; otherwise −1
     */
    private record Entry(long key, long deadline, long sequence, long value, long tick, int window) {
        /** Such a one may come behind others of its tick, but not those it came with. */
        boolean mayComeAfter(Entry other) {
            return window >= 0 && window != other.window && tick == other.tick;
        }
    }

    private static final class Run {
        private final Random random;
        private final boolean withChanges;
        private final boolean inSteps;
        /** How many entries the wheel sorts in one go. */
        private final int step;

        private final long tick;
        private final long start;
        private final long last;
        private final int capacity;
        private final TimerWheel<Long> wheel;

        private final TreeMap<Entry, Entry> pending = new TreeMap<>(Comparator.comparingLong(Entry::tick)
                .thenComparingLong(Entry::deadline)
                .thenComparingLong(Entry::sequence));
        private final Deque<Entry> due = new ArrayDeque<>();
        private final Map<Long, Entry> live = new HashMap<>();
        /** Every key there was; most of them are dead. */
        private final List<Long> keys = new ArrayList<>();

        private final Set<Long> issued = new HashSet<>();

        private long now;
        private long sequence;
        private int changes;
        private int spuriousWakeUps;
        private int steps;
        private String where;

        Run(long seed, boolean withChanges, boolean inSteps) {
            this.random = new Random(seed);
            this.withChanges = withChanges;
            this.inSteps = inSteps;
            this.step = inSteps ? 1 + random.nextInt(12) : random.nextBoolean() ? 4_096 : 1 + random.nextInt(12);
            this.tick = TICKS[random.nextInt(TICKS.length)];
            this.start = STARTS[random.nextInt(STARTS.length)];
            this.last = Long.MAX_VALUE / tick * tick;
            this.capacity = random.nextBoolean() ? 10_000 : 1 + random.nextInt(200);
            int slots = random.nextInt(4) == 0 ? 256 : 64;
            this.wheel = new TimerWheel<>(tick, slots, capacity, start, Integer.MAX_VALUE, step);
            this.where =
                    "seed %d (tick %d, start %d, capacity %d, step %d)".formatted(seed, tick, start, capacity, step);
        }

        void step(int number) {
            String seed = where;
            where = seed + ", operation " + number;
            switch (random.nextInt(withChanges ? 10 : 6)) {
                case 0, 1 -> schedule(delay());
                case 2 -> scheduleTogether();
                case 3 -> advance(jump());
                case 4 -> followTheWait();
                case 5 -> poll(random.nextInt(8));
                case 6, 7 -> cancel();
                default -> reschedule();
            }
            check();
            where = seed;
        }

        /** Everything fires in the end, and then nothing is left. */
        void finish() {
            do {
                advance(Long.MAX_VALUE);
            } while (wheel.isBehind());
            poll(Integer.MAX_VALUE);
            assertThat(wheel.isEmpty()).as(where).isTrue();
            assertThat(live).as(where).isEmpty();
            // I2: each stale bound wakes at most once.
            if (!inSteps) {
                assertThat(spuriousWakeUps).as(where).isLessThanOrEqualTo(changes);
            }
        }

        /** Mostly one; or several at about the same time, so that a slot has more than a step's worth. */
        private void scheduleTogether() {
            long delay = delay();
            int spread = 1 << random.nextInt(12);
            for (int left = random.nextInt(8) == 0 ? 1 + random.nextInt(40) : 1; left > 0; left--) {
                schedule(delay > Long.MAX_VALUE - spread ? delay : delay + random.nextInt(spread));
            }
        }

        private void schedule(long delay) {
            if (live.size() == capacity) {
                Assertions.assertThatIllegalStateException()
                        .as(where)
                        .isThrownBy(() -> wheel.schedule(start + now, delay, -1L));
                return;
            }
            long deadline = deadline(delay);
            long key = wheel.schedule(start + now, delay, sequence);
            assertThat(key).as(where).isNotNegative();
            assertThat(issued.add(key)).as("%s: key %d is new", where, key).isTrue();
            add(entry(key, deadline, sequence));
            sequence++;
            keys.add(key);
        }

        private void cancel() {
            long key = anyKey();
            Entry entry = live.remove(key);
            Long expected = null;
            if (entry != null) {
                expected = entry.value();
                pending.remove(entry);
                due.remove(entry);
                changes++;
            }
            assertThat(wheel.cancel(key)).as(where).isEqualTo(expected);
        }

        private void reschedule() {
            long key = anyKey();
            long delay = delay();
            Entry entry = live.get(key);
            boolean movable = entry != null && pending.remove(entry) != null;
            assertThat(wheel.reschedule(key, start + now, delay)).as(where).isEqualTo(movable);
            if (movable) {
                add(entry(key, deadline(delay), entry.value()));
                sequence++;
                changes++;
            }
        }

        private Entry entry(long key, long deadline, long value) {
            long at = Math.max(wheel.tick(), Math.ceilDiv(deadline, tick));
            boolean late = wheel.isBehind() && at == wheel.tick();
            return new Entry(key, deadline, sequence, value, at, late ? steps : -1);
        }

        private void add(Entry entry) {
            pending.put(entry, entry);
            live.put(entry.key(), entry);
        }

        private void advance(long to) {
            if (inSteps) {
                now = Math.max(now, to);
                for (int left = 1 + random.nextInt(3); left > 0; left--) {
                    advanceAStep();
                }
                return;
            }
            long before = random.nextInt(20) == 0 ? now - random.nextInt(1_000) : now;
            wheel.advance(start + before);
            fireUpTo(now);
            now = Math.max(now, to);
            int count = wheel.advance(start + now);
            fireUpTo(now);
            assertThat(count).as(where).isEqualTo(due.size());
            if (!pending.isEmpty()) {
                assertThat(wheel.nanosUntilNext(start + now))
                        .as("%s: I2", where)
                        .isPositive();
            }
        }

        private void advanceAStep() {
            int budget = 1 + random.nextInt(random.nextBoolean() ? 8 : 60);
            long work = wheel.work();
            int count = wheel.advance(start + now, budget);
            steps++;
            // What has fired was touched; else the bound would hold whatever was done.
            assertThat(wheel.work() - work)
                    .as("%s: end-5", where)
                    .isBetween((long) count - due.size(), budget + step - 1L);
            List<Long> values = wheel.due();
            assertThat(values).as(where).hasSize(count);
            assertThat(values.subList(0, due.size()))
                    .as(where)
                    .isEqualTo(due.stream().map(Entry::value).toList());
            for (Long value : values.subList(due.size(), count)) {
                Entry fired = pending.keySet().stream()
                        .filter(entry -> entry.value() == value)
                        .findFirst()
                        .orElseThrow();
                assertThat(fireTime(fired)).as(where).isLessThanOrEqualTo(now);
                assertThat(pending.headMap(fired).keySet())
                        .as("%s: overtaken by %s", where, fired)
                        .allMatch(entry -> entry.mayComeAfter(fired));
                pending.remove(fired);
                due.add(fired);
            }
            if (!wheel.isBehind()) {
                assertThat(pending.keySet()).as(where).noneMatch(entry -> fireTime(entry) <= now);
            }
        }

        /** What the owner does: sleeps as long as the wheel says, then advances. */
        private void followTheWait() {
            long wait = wheel.nanosUntilNext(start + now);
            if (wait == Long.MAX_VALUE) {
                assertThat(pending).as(where).isEmpty();
                return;
            }
            int before = due.size();
            advance(now + wait);
            if (due.size() == before && !wheel.isBehind()) {
                spuriousWakeUps++;
            }
        }

        private void fireUpTo(long time) {
            // Never early, and not later than the first advance at or after the fire time.
            while (!pending.isEmpty() && fireTime(pending.firstKey()) <= time) {
                Entry fired = pending.pollFirstEntry().getKey();
                assertThat(fired.deadline()).as(where).isLessThanOrEqualTo(time);
                due.add(fired);
            }
        }

        private void poll(int atMost) {
            for (int i = 0; i < atMost; i++) {
                Entry expected = due.poll();
                Long value = wheel.pollDue();
                if (expected == null) {
                    assertThat(value).as(where).isNull();
                    return;
                }
                assertThat(value).as(where).isEqualTo(expected.value());
                live.remove(expected.key());
            }
        }

        private void check() {
            assertThat(wheel.size()).as(where).isEqualTo(live.size());
            assertThat(wheel.isEmpty()).as(where).isEqualTo(live.isEmpty());
            assertThat(wheel.dueCount()).as(where).isEqualTo(due.size());
            assertThat(wheel.hasDue()).as(where).isEqualTo(!due.isEmpty());
            long wait = wheel.nanosUntilNext(start + now);
            if (pending.isEmpty()) {
                assertThat(wait).as(where).isEqualTo(Long.MAX_VALUE);
            } else if (wheel.isBehind()) {
                assertThat(wait).as(where).isZero();
            } else {
                long exact = Math.max(0, fireTime(pending.firstKey()) - now);
                assertThat(wait).as(where).isBetween(0L, exact);
                if (changes == 0) {
                    assertThat(wait).as(where).isEqualTo(exact);
                }
            }
        }

        private long fireTime(Entry entry) {
            long fireTime = Math.ceilDiv(entry.deadline(), tick) * tick;
            assertThat(fireTime - entry.deadline()).as(where).isBetween(0L, tick - 1);
            return fireTime;
        }

        private long deadline(long delay) {
            long positive = Math.max(0, delay);
            return positive > last - now ? last : now + positive;
        }

        /**
         * From no time to more than there is, every magnitude as likely as the others; often a round number of ticks.
         */
        private long delay() {
            return switch (random.nextInt(12)) {
                case 0 -> random.nextInt(3) - 1;
                case 1 -> Long.MAX_VALUE - random.nextInt(1_000);
                case 2 -> -random.nextLong(1L << 40);
                case 3, 4 -> tick * random.nextInt(200);
                case 5 -> tick * 64 + random.nextInt(5) - 2;
                default -> magnitude(62);
            };
        }

        private long jump() {
            long jump = switch (random.nextInt(4)) {
                case 0 -> random.nextInt(3);
                case 1 -> random.nextLong(Math.min(tick * 80, 1L << 57));
                default -> magnitude(55);
            };
            return now > Long.MAX_VALUE - jump ? Long.MAX_VALUE : now + jump;
        }

        private long magnitude(int maxBits) {
            return random.nextLong(1L << random.nextInt(1, maxBits));
        }

        private long anyKey() {
            return switch (keys.isEmpty() ? 0 : random.nextInt(8)) {
                case 0 -> random.nextLong();
                case 1 -> keys.get(random.nextInt(keys.size())) + (1L << 32);
                case 2, 3 -> keys.get(random.nextInt(keys.size()));
                default -> keys.get(keys.size() - 1 - random.nextInt(Math.min(keys.size(), 50)));
            };
        }
    }
}
