package io.millrace.engine.reactor;

import java.util.concurrent.RejectedExecutionException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** grpc-18: two tasks are handed over while the reactor ends. The inbox has room for one, so that the second adds a chunk. */
@JCStressTest
@State
@Outcome(id = "0, 0, 2", expect = Expect.ACCEPTABLE, desc = "Both came in time.")
@Outcome(
        id = {"0, 1, 1", "1, 0, 1"},
        expect = Expect.ACCEPTABLE,
        desc = "One came in time.")
@Outcome(id = "1, 1, 0", expect = Expect.ACCEPTABLE, desc = "Both came too late.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A task that was accepted and lost, or refused and run.")
public class OfferAndClose implements Runnable {
    private final RunQueue queue = new RunQueue(4, 2);
    private int taken;

    @Actor
    public void reactor() {
        taken = queue.close().size();
    }

    @Actor
    public void producer(III_Result result) {
        result.r1 = offer(this);
    }

    @Actor
    public void another(III_Result result) {
        result.r2 = offer(() -> {});
    }

    private int offer(Runnable task) {
        try {
            queue.offer(task);
            return 0;
        } catch (RejectedExecutionException e) {
            return 1;
        }
    }

    @Arbiter
    public void afterwards(III_Result result) {
        result.r3 = taken;
    }

    @Override
    public void run() {}
}
