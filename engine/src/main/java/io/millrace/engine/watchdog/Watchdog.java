package io.millrace.engine.watchdog;

import io.millrace.engine.BlockedLoop;
import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.internal.Insistence;
import io.millrace.poll.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Checks the reactors regularly and distinguishes four cases (mr-1): one item that holds its thread, which is the
 * handler's fault and is reported with its stack; a turn of many items; a thread that is runnable but not scheduled;
 * and a process that was paused as a whole, which shows in that the watchdog itself wakes late. {@link LoopDiagnosis}
 * decides between them; {@link WatchdogLog} decides what is logged and how often.
 *
 * <p>Each reactor has a {@link Heartbeat}, which is odd while it works, even while it sleeps or spins, and different in
 * each turn; and it counts its items.
 *
 * <p><b>Idle is silent.</b> When no beat has changed for a whole period and all are even, the watchdog parks without a
 * timeout, until a reactor that wakes resumes it: see {@link WatchdogSleep}.
 */
public final class Watchdog {
    private static final Object NAME = "the watchdog";

    private final List<? extends Watched> reactors;
    private final Clock clock;
    /** Whether time passes by itself; a clock that tests move says nothing about what the kernel did meanwhile. */
    private final boolean realTime;

    private final long limitNanos;
    private final long periodNanos;
    private final @Nullable Consumer<BlockedLoop> report;
    private final WatchdogLog log;
    private final LoopDiagnosis[] suspects;
    /** The beats of the last look, and how long the watchdog has slept since. */
    private final long[] beats;

    private long sleptNanos;
    /** Whether the last look failed. */
    private boolean failing;

    private final Thread thread;

    private final WatchdogSleep watchdogSleep;
    private volatile boolean stopped;
    private @Nullable Runnable unsubscribe;

    /**
     * Creates a watchdog.
     *
     * @param report called with each item that blocks; null if they are to be logged
     */
    public Watchdog(
            String name,
            List<? extends Watched> reactors,
            Clock clock,
            long limitNanos,
            @Nullable Consumer<BlockedLoop> report) {
        this.reactors = reactors;
        this.clock = clock;
        this.realTime = clock.equals(Clock.system());
        this.limitNanos = limitNanos;
        this.periodNanos = Math.max(1_000_000, limitNanos / 2);
        this.report = report;
        this.log = new WatchdogLog(name);
        this.suspects =
                reactors.stream().map(reactor -> new LoopDiagnosis(limitNanos)).toArray(LoopDiagnosis[]::new);
        // A class that is needed for the first time while the heap is full can never be used again.
        String ignored = WatchdogLog.place(new BlockedLoop(name, "nothing", Duration.ZERO, List.of()));
        this.beats = new long[suspects.length];
        this.sleptNanos = periodNanos;
        this.thread = Thread.ofPlatform().daemon(true).name(name + "-watchdog").unstarted(this::watch);
        this.watchdogSleep = new WatchdogSleep(
                reactors.stream().map(Watched::heartbeat).toArray(Heartbeat[]::new), () -> LockSupport.unpark(thread));
        reactors.forEach(reactor -> reactor.heartbeat().setWatchdogSleep(watchdogSleep));
    }

    public void start() {
        unsubscribe = clock.subscribe(() -> LockSupport.unpark(thread));
        thread.start();
    }

    public void stop() {
        stopped = true;
        if (unsubscribe != null) {
            unsubscribe.run();
        }
        LockSupport.unpark(thread);
    }

    /** Nothing ends the thread but {@link #stop}. After a failure it looks again, a period later. */
    private void watch() {
        while (!stopped) {
            try {
                boolean active = look();
                failing = false;
                Thread.interrupted(); // left behind by the report's consumer: an interrupted thread cannot park
                sleep(active);
            } catch (Throwable e) {
                if (!failing) { // a full heap is full for many looks
                    failing = true;
                    FailureLog.report(NAME, e);
                }
                Insistence.pause(periodNanos);
            }
        }
    }

    private void sleep(boolean active) {
        if (active) {
            long began = System.nanoTime();
            LockSupport.parkNanos(this, periodNanos);
            sleptNanos = System.nanoTime() - began;
            return;
        }
        sleptNanos = periodNanos;
        if (watchdogSleep.suspend() && !stopped) {
            LockSupport.park(this);
        }
        watchdogSleep.resume();
    }

    /** Counts a pause, checks all reactors and sums up. Returns false if it may sleep until a reactor wakes. */
    private boolean look() {
        long pausedNanos = realTime ? late(sleptNanos) : 0;
        sleptNanos = periodNanos;
        boolean active = look(beats, pausedNanos);
        if (log.isSummaryDue(clock.nanoTime())) {
            reactors.forEach(reactor -> log.keepIfLongest(reactor.stopTiming()));
            log.summarise(clock.nanoTime());
        }
        return active;
    }

    /** Returns how long the process was paused: by how much the watchdog slept longer than intended. */
    private long late(long sleptNanos) {
        long late = sleptNanos - periodNanos;
        if (late >= limitNanos) {
            log.countPaused(late);
            reactors.forEach(reactor -> reactor.stalls().countPaused(late));
        }
        return Math.max(0, late);
    }

    /** Checks all reactors. Returns false if nothing has moved since the last check and all are asleep. */
    private boolean look(long[] last, long pausedNanos) {
        boolean active = false;
        for (int i = 0; i < last.length; i++) {
            Watched reactor = reactors.get(i);
            long beat = reactor.heartbeat().beat();
            active |= beat != last[i] || (beat & 1) != 0;
            last[i] = beat;
            if ((beat & 1) == 0) {
                suspects[i].markAsleep();
                reactor.stalls().end();
            } else {
                look(reactor, suspects[i], beat, pausedNanos);
            }
        }
        return active;
    }

    private void look(Watched reactor, LoopDiagnosis suspect, long beat, long pausedNanos) {
        long item = reactor.items();
        ThreadTimes times = realTime ? ThreadTimes.of(reactor.systemThread()) : null;
        long now = clock.nanoTime();
        long since = realTime ? now : reactor.heartbeat().turnBegan();
        LoopDiagnosis.Verdict verdict = suspect.works(beat, item, since, now, times, pausedNanos);
        if (suspect.itemNanos() >= limitNanos) {
            reactor.onBlocked();
            if (verdict != LoopDiagnosis.Verdict.BLOCKED) {
                reactor.stalls().goOn(suspect.itemNanos(), now);
            }
        } else {
            reactor.stalls().end();
        }
        switch (verdict) {
            case BLOCKED -> {
                BlockedLoop blocked = reactor.describeTurn(suspect.itemNanos());
                if (reactor.items() == item && reactor.heartbeat().beat() == beat) {
                    reactor.stalls().end(); // of another item, at once after which this one came
                    reactor.stalls().begin(WatchdogLog.place(blocked), blocked, now);
                    tell(blocked, now);
                }
            }
            case BUSY -> {
                log.countBusy(suspect.turnNanos());
                reactor.stalls().countBusy(suspect.turnNanos());
                reactor.startTiming();
            }
            case STARVED -> {
                log.countStarved(suspect.starvedNanos());
                reactor.stalls().countStarved(suspect.starvedNanos());
            }
            case FINE -> {}
        }
    }

    private void tell(BlockedLoop blocked, long now) {
        if (report == null) {
            log.reportBlocked(blocked, now);
            return;
        }
        try {
            report.accept(blocked);
        } catch (Throwable e) {
            FailureLog.report("the watchdog's callback", e);
        }
    }
}
