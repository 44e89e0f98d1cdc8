package io.millrace.poll;

import io.millrace.poll.internal.Durations;
import io.millrace.poll.internal.TimerWheel;
import io.millrace.sys.Bits;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Timeouts that a {@link Poll} can wait on: readable while one is due.
 *
 * <p>A timer holds any number of timeouts, each with a value, in a hashed wheel: setting and cancelling cost the same for ten and
 * for a million. A timeout is due at its deadline rounded up to the timer's tick: never early, at most one tick late. Values come out in
 * the order of their deadlines, equal ones in the order they were set. A delay of centuries is for ever.
 *
 * <p><b>Threads.</b> The polling thread only, and it is not checked; registering may be done by any thread. A poll looks at each registered
 * timer in every turn, so have one timer with many timeouts, not many timers.
 *
 * <h2>Portability</h2>
 * The same on every backend. It has no thread and no descriptor: the poll waits until exactly the earliest deadline.
 *
 * @param <T> the values
 */
public final class Timer<T> implements Source, AutoCloseable {
    private static final Duration DEFAULT_TICK = Duration.ofMillis(100);
    private static final int DEFAULT_SLOTS = 256;
    private static final int DEFAULT_CAPACITY = 65_536;
    /** How many timeouts a pass of the poll touches at most: about a millisecond of work. */
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
     * A timer with the default tick of 100 ms, 256 slots and room for 65,536 timeouts.
     *
     * @param <T> the values
     * @return an empty timer
     */
    public static <T> Timer<T> create() {
        return builder().build();
    }

    /**
     * A timer with a tick of its own.
     *
     * @param tick positive: how late a timeout may be
     * @param <T> the values
     * @return an empty timer
     */
    public static <T> Timer<T> withTick(Duration tick) {
        return builder().tick(tick).build();
    }

    /**
     * For a tick, a size or a clock other than the default.
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
     * @param delay from now; a negative one counts as none
     * @param value what {@link #poll} returns when it is due
     * @return a key to cancel it with
     * @throws IllegalStateException if the timer is full, or closed; nothing is changed
     */
    public long set(Duration delay, T value) {
        Objects.requireNonNull(value, "value");
        if (registration.node.isClosed()) {
            throw new IllegalStateException("cannot set a timeout: the timer is closed; open another");
        }
        return wheel.schedule(clock.nanoTime(), Durations.toNanos(delay), value);
    }

    /**
     * Moves a timeout that is not due yet. Moving it later is cheap: it is noted, and carried out when the old deadline comes up.
     *
     * @param key as returned by {@link #set}
     * @param delay from now
     * @return false if the key's timeout is due, polled, or cancelled; nothing is changed then
     */
    public boolean reset(long key, Duration delay) {
        return wheel.reschedule(key, clock.nanoTime(), Durations.toNanos(delay));
    }

    /**
     * Takes a timeout back, also one that is due and has not been polled.
     *
     * @param key as returned by {@link #set}; an old key can't hit a later timeout
     * @return its value, or null if it was polled or cancelled before
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

    /** Readable if and only if something is due. */
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
     * How many timeouts it holds, those that are due and not polled included.
     *
     * @return the number of timeouts
     */
    public int size() {
        return wheel.size();
    }

    Clock clock() {
        return clock;
    }

    /** For the poll: moves what is due, or the first of it, and is readable if that was anything new. */
    void expire(long now) {
        int before = wheel.dueCount();
        if (wheel.advance(now, STEP) > before) {
            registration.node.set(Bits.READABLE);
        }
    }

    /** For the poll: until the next timeout that is not due yet; 0 while there is more for {@link #expire}. */
    long nanosUntilNext(long now) {
        return wheel.nanosUntilNext(now);
    }

    /** Drops every timeout; silent for ever. Idempotent. A poll that it is registered with may hold it, empty, until it polls next. Like the rest, by the polling thread, or when nobody polls. */
    @Override
    public void close() {
        registration.close();
        wheel.clear();
    }

    @Override
    public String toString() {
        return "timer, " + size() + " timeouts";
    }

    /** Settings of a timer that has yet to be made. */
    public static final class Builder {
        private Duration tick = DEFAULT_TICK;
        private int slots = DEFAULT_SLOTS;
        private int capacity = DEFAULT_CAPACITY;
        private Clock clock = Clock.system();

        private Builder() {}

        /**
         * How late a timeout may be.
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
         * Slots per level of the wheel: more of them cost memory and save work where there are very many timeouts.
         *
         * @param slots rounded up to a power of two; 256 by default
         * @return this
         */
        public Builder slots(int slots) {
            this.slots = slots;
            return this;
        }

        /**
         * How many timeouts it holds at most.
         *
         * @param capacity 65,536 by default; memory is taken as it is needed
         * @return this
         */
        public Builder capacity(int capacity) {
            this.capacity = capacity;
            return this;
        }

        /**
         * Where the time comes from; must be the clock of the poll that it is registered with.
         *
         * @param clock the system's by default
         * @return this
         */
        public Builder clock(Clock clock) {
            this.clock = Objects.requireNonNull(clock, "clock");
            return this;
        }

        /**
         * Makes the timer.
         *
         * @param <T> the values
         * @return an empty timer
         * @throws IllegalArgumentException if a size is out of range
         */
        public <T> Timer<T> build() {
            return new Timer<>(this);
        }
    }
}
