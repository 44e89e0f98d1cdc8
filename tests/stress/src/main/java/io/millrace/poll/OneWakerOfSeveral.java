package io.millrace.poll;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** mio-15, tip-5: of two wakers of one sleeper exactly one makes the system call. */
@JCStressTest
@State
@Outcome(
        id = {"0, 1", "1, 0"},
        expect = Expect.ACCEPTABLE,
        desc = "One of them.")
@Outcome(expect = Expect.FORBIDDEN, desc = "None or both.")
public class OneWakerOfSeveral {
    private final WakeGate gate = new WakeGate();

    public OneWakerOfSeveral() {
        gate.fallAsleep();
    }

    @Actor
    public void one(II_Result result) {
        result.r1 = gate.claimWake() ? 1 : 0;
    }

    @Actor
    public void other(II_Result result) {
        result.r2 = gate.claimWake() ? 1 : 0;
    }
}
