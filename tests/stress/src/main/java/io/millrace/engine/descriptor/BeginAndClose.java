package io.millrace.engine.descriptor;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** grpc-12: an operation begins while its descriptor is closed and the reactor tries it. */
@JCStressTest
@State
@Outcome(
        id = {"1, 0, 0", "0, 1, 0", "0, 0, 1"},
        expect = Expect.ACCEPTABLE,
        desc = "Refused, closed or completed.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A callback that is called twice, or never.")
public class BeginAndClose {
    private final PendingOperation<Object> slot = new PendingOperation<>();

    @Actor
    public void user(III_Result result) {
        try {
            slot.put(this, "read", "a test");
        } catch (IllegalStateException e) {
            result.r1 = 1;
        }
    }

    @Actor
    public void closer(III_Result result) {
        result.r2 = slot.close() != null ? 1 : 0;
    }

    @Actor
    public void reactor(III_Result result) {
        Object pending = slot.get();
        result.r3 = pending != null && slot.take(pending) ? 1 : 0;
    }
}
