package io.millrace.poll;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** The handshake of {@link WakeGate} by itself, Dekker's: both must not overlook each other. */
@JCStressTest
@State
@Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "Nobody saw the other: a lost wake-up.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "The sleeper found the work, the waker found the sleeper, or both.")
public class WakeGateHandshake {
    private final WakeGate gate = new WakeGate();
    private volatile int work;

    @Actor
    public void sleeper(II_Result result) {
        gate.fallAsleep();
        result.r1 = work;
    }

    @Actor
    public void waker(II_Result result) {
        work = 1;
        result.r2 = gate.claimWake() ? 1 : 0;
    }
}
