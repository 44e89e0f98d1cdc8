package io.millrace.engine;

import io.millrace.poll.Clock;
import io.millrace.poll.Poll;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The settings that a manager and a loop share, while a builder gathers them. */
final class EngineSettings {
    static final int MAX_REACTORS = 1024;
    private static final int MAX_BUDGET = 1 << 20;

    Clock clock = Clock.system();
    private @Nullable String backend;
    long tickNanos = 1_000_000;
    int eventCapacity = 1024;
    int budget = 1024;
    long spinNanos;
    private long watchdogNanos = 100_000_000;
    /** Null: they are logged. */
    private @Nullable Consumer<BlockedTurn> onBlocked;

    void backend(String name) {
        this.backend = Objects.requireNonNull(name, "name");
    }

    void clock(Clock source) {
        this.clock = Objects.requireNonNull(source, "clock");
    }

    void tick(Duration tick) {
        this.tickNanos = Nanos.positive(tick, "the tick");
    }

    void eventCapacity(int capacity) {
        this.eventCapacity = inRange("the event capacity", capacity, 1, 1 << 20);
    }

    void budget(int items) {
        this.budget = inRange("the budget of a class", items, 1, MAX_BUDGET);
    }

    void spin(Duration atMost) {
        if (atMost.isNegative()) {
            throw new IllegalArgumentException("the time to spin must not be negative, not " + atMost);
        }
        this.spinNanos = Nanos.of(atMost);
    }

    void watchdog(Duration limit, Consumer<BlockedTurn> callback) {
        this.watchdogNanos = Nanos.positive(limit, "the watchdog's limit");
        this.onBlocked = Objects.requireNonNull(callback, "callback");
    }

    void noWatchdog() {
        this.watchdogNanos = 0;
    }

    Poll openPoll() {
        Poll.Builder builder = Poll.builder().clock(clock);
        return (backend == null ? builder : builder.backend(backend)).open();
    }

    /** So many reactors, each with an open poll; or none, and an exception. */
    List<Reactor> openReactors(String name, int count) {
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

    /** A watchdog that has not started; null if none is wanted. */
    @Nullable
    Watchdog watchdogOf(String name, List<Reactor> reactors) {
        if (watchdogNanos == 0) {
            return null;
        }
        return new Watchdog(name, reactors, clock, watchdogNanos, onBlocked);
    }

    static int inRange(String what, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " must be from " + min + " to " + max + ", not " + value);
        }
        return value;
    }
}
