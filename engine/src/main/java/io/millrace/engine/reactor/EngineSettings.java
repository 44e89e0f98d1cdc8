package io.millrace.engine.reactor;

import io.millrace.engine.BlockedLoop;
import io.millrace.engine.watchdog.Watchdog;
import io.millrace.poll.Clock;
import io.millrace.poll.Poll;
import io.millrace.poll.internal.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The settings that managers and loops have in common, as a builder collects them. */
public final class EngineSettings {
    public static final int MAX_REACTORS = 1024;
    private static final int MAX_BUDGET = 1 << 20;

    public Clock clock = Clock.system();
    private @Nullable String backend;
    long tickNanos = 1_000_000;
    int eventCapacity = 1024;
    int budget = 1024;
    long spinNanos;
    private long watchdogNanos = 100_000_000;
    /** Null if reports are logged. */
    private @Nullable Consumer<BlockedLoop> onBlocked;

    public void setBackend(String name) {
        this.backend = Objects.requireNonNull(name, "name");
    }

    public void setClock(Clock source) {
        this.clock = Objects.requireNonNull(source, "clock");
    }

    public void setTick(Duration tick) {
        this.tickNanos = Durations.positiveNanos(tick, "the tick");
    }

    public void setEventCapacity(int capacity) {
        this.eventCapacity = inRange("the event capacity", capacity, 1, 1 << 20);
    }

    public void setBudget(int items) {
        this.budget = inRange("the budget of a class", items, 1, MAX_BUDGET);
    }

    public void setSpin(Duration atMost) {
        if (atMost.isNegative()) {
            throw new IllegalArgumentException("the time to spin must not be negative, not " + atMost);
        }
        this.spinNanos = Durations.nanosOrZero(atMost);
    }

    public void setWatchdog(Duration limit, Consumer<BlockedLoop> callback) {
        this.watchdogNanos = Durations.positiveNanos(limit, "the watchdog's limit");
        this.onBlocked = Objects.requireNonNull(callback, "callback");
    }

    public void disableWatchdog() {
        this.watchdogNanos = 0;
    }

    Poll openPoll() {
        Poll.Builder builder = Poll.builder().clock(clock);
        return (backend == null ? builder : builder.backend(backend)).open();
    }

    /** Returns {@code count} reactors, each with an open poll; or opens none and throws. */
    public List<Reactor> openReactors(String name, int count) {
        List<Reactor> all = new ArrayList<>();
        boolean opened = false;
        try {
            for (int i = 0; i < count; i++) {
                Reactor reactor = new Reactor(name + "-" + i, this);
                all.add(reactor);
                reactor.prepare();
            }
            opened = true;
            return List.copyOf(all);
        } finally {
            if (!opened) {
                all.forEach(reactor -> reactor.finish(List.of()));
            }
        }
    }

    /** Returns a watchdog that has not been started, or null if it is turned off. */
    @Nullable
    public Watchdog watchdogOf(String name, List<Reactor> reactors) {
        if (watchdogNanos == 0) {
            return null;
        }
        return new Watchdog(name, reactors, clock, watchdogNanos, onBlocked);
    }

    public static int inRange(String what, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " must be from " + min + " to " + max + ", not " + value);
        }
        return value;
    }
}
