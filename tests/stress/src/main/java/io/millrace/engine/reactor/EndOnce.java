package io.millrace.engine.reactor;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** grpc-8: shutdown, the last unref and a ref that may come too late. */
@JCStressTest
@State
@Outcome(
        id = {"1, 0, 0", "0, 1, 0"},
        expect = Expect.ACCEPTABLE,
        desc = "One ended it, and the reference was refused or given back before.")
@Outcome(id = "0, 0, 1", expect = Expect.ACCEPTABLE, desc = "The late reference was the last to go.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Nobody ended it, or two.")
public class EndOnce {
    private final Lifecycle lifecycle = new Lifecycle("a test");

    public EndOnce() {
        lifecycle.ref();
    }

    @Actor
    public void closer(III_Result result) {
        result.r1 = lifecycle.shutdown() ? 1 : 0;
    }

    @Actor
    public void holder(III_Result result) {
        result.r2 = lifecycle.unref() ? 1 : 0;
    }

    @Actor
    public void latecomer(III_Result result) {
        try {
            lifecycle.ref();
        } catch (IllegalStateException e) {
            return;
        }
        result.r3 = lifecycle.unref() ? 1 : 0;
    }
}
