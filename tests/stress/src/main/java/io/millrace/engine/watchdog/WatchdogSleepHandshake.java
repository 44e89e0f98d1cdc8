package io.millrace.engine.watchdog;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** mr-1: the watchdog leaves while a reactor wakes up. Either it sees the beat or it is called back. */
@JCStressTest
@State
@Outcome(
        id = "1, 0",
        expect = Expect.FORBIDDEN,
        desc = "It has left though a reactor works, and nobody called it back.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "The watchdog saw the beat, or the reactor saw that it leaves, or both.")
public class WatchdogSleepHandshake implements Runnable {
    private final Heartbeat heartbeat = new Heartbeat();
    private final WatchdogSleep watchdogSleep = new WatchdogSleep(new Heartbeat[] {heartbeat}, this);
    private int called;

    public WatchdogSleepHandshake() {
        heartbeat.setWatchdogSleep(watchdogSleep);
    }

    @Actor
    public void watchdog(II_Result result) {
        result.r1 = watchdogSleep.suspend() ? 1 : 0;
    }

    @Actor
    public void reactor(II_Result result) {
        heartbeat.markAwake(1);
        result.r2 = called;
    }

    @Override
    public void run() {
        called = 1;
    }
}
