package io.millrace.engine;

import io.millrace.engine.internal.FailureLog;
import io.millrace.poll.Clock;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the reactors now and then, and reports the one whose turn takes too long (mr-1).
 *
 * <p>A reactor has a {@link Pulse}: odd while it works, even while it sleeps, another number each turn. If the watchdog finds
 * the same odd number for longer than the limit, that is the turn it reports, once.
 *
 * <p><b>Idle is silent.</b> When no beat has changed for a whole period and all are even, it parks without a timeout, until a reactor that wakes from a
 * sleep calls it back: see {@link Vigil}.
 */
final class Watchdog {
    private final List<Reactor> reactors;
    private final Clock clock;
    private final long limitNanos;
    private final Consumer<BlockedTurn> report;
    private final long[] seen;
    private final Thread thread;

    private final Vigil vigil;
    private volatile boolean stopped;
    private @Nullable Runnable unsubscribe;

    Watchdog(String name, List<Reactor> reactors, Clock clock, long limitNanos, Consumer<BlockedTurn> report) {
        this.reactors = reactors;
        this.clock = clock;
        this.limitNanos = limitNanos;
        this.report = report;
        this.seen = new long[reactors.size()];
        this.thread = Thread.ofPlatform().daemon(true).name(name + "-watchdog").unstarted(this::watch);
        this.vigil = new Vigil(
                reactors.stream().map(reactor -> reactor.pulse).toArray(Pulse[]::new),
                () -> LockSupport.unpark(thread));
        reactors.forEach(reactor -> reactor.pulse.watchedBy(vigil));
    }

    void start() {
        unsubscribe = clock.subscribe(() -> LockSupport.unpark(thread));
        thread.start();
    }

    void stop() {
        stopped = true;
        if (unsubscribe != null) {
            unsubscribe.run();
        }
        LockSupport.unpark(thread);
    }

    private void watch() {
        long[] last = new long[seen.length];
        while (!stopped) {
            if (!look(last)) {
                if (vigil.suspend() && !stopped) {
                    LockSupport.park(this);
                }
                vigil.resume();
            } else {
                LockSupport.parkNanos(this, Math.max(1_000_000, limitNanos / 2));
            }
        }
    }

    /** Reports what is to be reported; false if nothing has moved since the last look and all sleep. */
    private boolean look(long[] last) {
        boolean active = false;
        for (int i = 0; i < last.length; i++) {
            Reactor reactor = reactors.get(i);
            long beat = reactor.pulse.beat();
            active |= beat != last[i] || (beat & 1) != 0;
            last[i] = beat;
            if ((beat & 1) == 0 || beat == seen[i]) {
                continue;
            }
            long lasts = clock.nanoTime() - reactor.pulse.turnBegan();
            if (lasts >= limitNanos) {
                tell(i, beat, lasts);
            }
        }
        return active;
    }

    private void tell(int index, long beat, long lastsNanos) {
        try {
            Reactor reactor = reactors.get(index);
            BlockedTurn blocked = reactor.describeTurn(lastsNanos);
            if (reactor.pulse.beat() == beat) {
                seen[index] = beat;
                report.accept(blocked);
            }
        } catch (Throwable e) {
            FailureLog.report("the watchdog's callback", e);
        }
    }
}
