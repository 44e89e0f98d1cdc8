package io.millrace.engine.reactor;

import io.millrace.engine.CancelResult;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** grpc-6: a task is run while two cancel it. */
@JCStressTest
@State
@Outcome(
        id = {"1, 0, 0", "0, 1, 0", "0, 0, 1"},
        expect = Expect.ACCEPTABLE,
        desc = "One of the three has it.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Nobody has it, or two.")
public class RunAndCancel extends Cancellable {
    private int ran;

    public RunAndCancel() {
        super(null);
    }

    @Actor
    public void reactor() {
        run();
    }

    @Actor
    public void canceller(III_Result result) {
        result.r2 = cancel();
    }

    @Actor
    public void another(III_Result result) {
        result.r3 = cancel();
    }

    private int cancel() {
        if (tryCancel() == CancelResult.CANCELLED) {
            end();
            return 1;
        }
        return 0;
    }

    @Arbiter
    public void afterwards(III_Result result) {
        result.r1 = ran;
    }

    @Override
    public void run() {
        if (begin()) {
            ran++;
            end();
        }
    }
}
