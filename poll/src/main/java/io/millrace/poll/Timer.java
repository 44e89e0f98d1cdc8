package io.millrace.poll;

import io.millrace.poll.internal.Durations;
import io.millrace.poll.internal.TimerWheel;
import io.millrace.sys.Bits;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A set of timeouts that a {@link Poll} can wait for: readable while one of them is due.
 *
 * {@snippet :
 * Timer<Session> timer = Timer.withTick(Duration.ofMillis(10));
 * poll.register(timer, 1, Interest.READABLE, Trigger.EDGE);
 * long key = timer.set(Duration.ofSeconds(30), session);
 * // when token 1 is reported:
 * for (Session idle; (idle = timer.poll()) != null; ) {
 *   idle.close();
 * }
 * }
 *
 * <p><b>What it guarantees.</b> A timeout is due at its deadline, rounded up to the timer's tick: never early, and at
 * most one tick late. Values come out in the order of their deadlines, and those with equal deadlines in the order in
 * which they were set. A delay of centuries means never.
 *
 * <p><b>Cost.</b> A timer holds any number of timeouts, each with a value, in a hashed wheel: setting and cancelling
 * cost the same for ten timeouts and for a million. A poll looks at each registered timer in every turn, so use one
 * timer with many timeouts rather than many timers.
 *
 * <p><b>Threads.</b> Only the polling thread may use a timer, and this is not checked. Any thread may register it.
 *
 * <h2>Portability</h2>
 * The same on every backend. A timer has no thread and no descriptor: the poll waits until exactly the earliest
 * deadline.
 *
 * @param <T> the type of the values
 */
public final class Timer<T> implements Source, AutoCloseable {
    private static final Duration DEFAULT_TICK = Duration.ofMillis(100);
    private static final int DEFAULT_SLOTS = 256;
    private static final int DEFAULT_CAPACITY = 65_536;
    /** How many timeouts one pass of the poll touches at most: about a millisecond of work. */
    static final int STEP = 4_096;

    private final Clock clock;
    private final TimerWheel<T> wheel;
    private final Registration registration = new Registration(this);

    private Timer(Builder builder) {
        this.clock = builder.clock;
        this.wheel = new TimerWheel<>(
                Durations.positiveNanos(builder.tick, "the tick"), builder.slots, builder.capacity, clock.nanoTime());
    }

    /**
     * Creates a timer with the default tick of 100 ms, 256 slots and room for 65,536 timeouts.
     *
     * @param <T> the type of the values
     * @return an empty timer
     */
    public static <T> Timer<T> create() {
        return builder().build();
    }

    /**
     * Creates a timer with the given tick.
     *
     * @param tick how late a timeout may be; positive
     * @param <T> the type of the values
     * @return an empty timer
     */
    public static <T> Timer<T> withTick(Duration tick) {
        return builder().tick(tick).build();
    }

    /**
     * Returns a builder, to choose the tick, the size or the clock.
     *
     * @return a builder with the defaults
     */
    public static Builder builder() {
        return new Builder();
    }

    @Override
    public SourceHandle handle() {
        return registration;
    }

    /**
     * Sets a timeout.
     *
     * @param delay from now; a negative delay counts as zero
     * @param value what {@link #poll} returns when the timeout is due
     * @return a key to move or cancel it
     * @throws IllegalStateException if the timer is full or closed; nothing is changed
     */
    public long set(Duration delay, T value) {
        Objects.requireNonNull(value, "value");
        if (registration.node.isClosed()) {
            throw new IllegalStateException("cannot set a timeout: the timer is closed; open another");
        }
        return wheel.schedule(clock.nanoTime(), Durations.toNanos(delay), value);
    }

    /**
     * Moves a timeout that is not due yet. Moving it to a later time is cheap: the new deadline is only noted, and
     * applied when the old one is reached.
     *
     * @param key a key returned by {@link #set}
     * @param delay from now
     * @return false if the timeout is due, was polled or was cancelled; then nothing is changed
     */
    public boolean reset(long key, Duration delay) {
        return wheel.reschedule(key, clock.nanoTime(), Durations.toNanos(delay));
    }

    /**
     * Cancels a timeout, even one that is due but has not been polled.
     *
     * @param key a key returned by {@link #set}; an old key never affects a later timeout
     * @return its value, or null if it was already polled or cancelled
     */
    public @Nullable T cancel(long key) {
        T value = wheel.cancel(key);
        settle();
        return value;
    }

    /**
     * Takes the next value that is due.
     *
     * @return the value, or null if nothing is due now
     */
    public @Nullable T poll() {
        if (!wheel.hasDue()) {
            long now = clock.nanoTime();
            do {
                wheel.advance(now, STEP);
            } while (!wheel.hasDue() && wheel.isBehind());
        }
        T value = wheel.pollDue();
        settle();
        return value;
    }

    /** Makes the timer readable if and only if a timeout is due. */
    private void settle() {
        SoftNode node = registration.node;
        boolean readable = node.readiness() != 0;
        if (readable != wheel.hasDue()) {
            if (readable) {
                node.unset(Bits.READABLE);
            } else {
                node.set(Bits.READABLE);
            }
        }
    }

    /**
     * Returns how many timeouts it holds, including those that are due but have not been polled.
     *
     * @return the number of timeouts
     */
    public int size() {
        return wheel.size();
    }

    Clock clock() {
        return clock;
    }

    /** Moves timeouts that are due, or the first of them, and becomes readable if there are any. Called by the poll. */
    void expire(long now) {
        int before = wheel.dueCount();
        if (wheel.advance(now, STEP) > before) {
            registration.node.set(Bits.READABLE);
        }
    }

    /**
     * Returns the time until the next timeout that is not due yet; 0 while there is more for {@link #expire}. Called by
     * the poll.
     */
    long nanosUntilNext(long now) {
        return wheel.nanosUntilNext(now);
    }

    /**
     * Drops all timeouts; the timer is never reported again. Idempotent. A poll that
     * it is registered with may hold it, empty, until it next polls. Like the other methods, for the polling
     * thread, or for any thread if no poll is in progress.
     */
    @Override
    public void close() {
        registration.close();
        wheel.clear();
    }

    @Override
    public String toString() {
        return "timer, " + size() + " timeouts";
    }

    /** Collects the settings of a timer. */
    public static final class Builder {
        private Duration tick = DEFAULT_TICK;
        private int slots = DEFAULT_SLOTS;
        private int capacity = DEFAULT_CAPACITY;
        private Clock clock = Clock.system();

        private Builder() {}

        /**
         * Sets how late a timeout may be.
         *
         * @param tick positive; 100 ms by default
         * @return this
         */
        public Builder tick(Duration tick) {
            Durations.positiveNanos(tick, "the tick");
            this.tick = tick;
            return this;
        }

        /**
         * Sets the number of slots per level of the wheel. More slots cost memory, and save work if there are very many
         * timeouts.
         *
         * @param slots rounded up to a power of two; 256 by default
         * @return this
         */
        public Builder slots(int slots) {
            this.slots = slots;
            return this;
        }

        /**
         * Sets how many timeouts it holds at most.
         *
         * @param capacity 65,536 by default; memory is allocated as needed
         * @return this
         */
        public Builder capacity(int capacity) {
            this.capacity = capacity;
            return this;
        }

        /**
         * Sets the clock, which must be that of the poll with which the timer is registered.
         *
         * @param clock the system's clock by default
         * @return this
         */
        public Builder clock(Clock clock) {
            this.clock = Objects.requireNonNull(clock, "clock");
            return this;
        }

        /**
         * Creates the timer.
         *
         * @param <T> the type of the values
         * @return an empty timer
         * @throws IllegalArgumentException if a size is out of range
         */
        public <T> Timer<T> build() {
            return new Timer<>(this);
        }
    }
}
