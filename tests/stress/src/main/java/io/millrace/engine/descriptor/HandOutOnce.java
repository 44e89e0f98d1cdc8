package io.millrace.engine.descriptor;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** grpc-10: a callback waits, and readiness, its timeout and a close come at once. */
@JCStressTest
@State
@Outcome(
        id = {"1, 0, 0", "0, 1, 0", "0, 0, 1"},
        expect = Expect.ACCEPTABLE,
        desc = "One of the three got it.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Nobody got it, or two.")
public class HandOutOnce implements Runnable {
    private final ReadinessDirection direction = new ReadinessDirection("readable");
    private final PendingNotification waiter = new PendingNotification(null, this);

    public HandOutOnce() {
        direction.notify(waiter);
    }

    @Actor
    public void kernel(III_Result result) {
        result.r1 = direction.ready() != null ? 1 : 0;
    }

    @Actor
    public void alarm(III_Result result) {
        result.r2 = direction.timedOut(waiter) ? 1 : 0;
    }

    @Actor
    public void closer(III_Result result) {
        result.r3 = direction.close() != null ? 1 : 0;
    }

    @Override
    public void run() {}
}
