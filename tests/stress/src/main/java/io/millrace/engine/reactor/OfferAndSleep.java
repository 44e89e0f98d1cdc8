package io.millrace.engine.reactor;

import io.millrace.poll.StressedGate;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** mio-15: a reactor goes to sleep while a task is handed over. The inbox has room for one, so it depends on the sleeper's pace whether the offer adds a chunk. */
@JCStressTest
@State
@Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "It sleeps on a task, and nobody wakes it.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "The sleeper found the task, the producer found the sleeper, or both.")
public class OfferAndSleep implements Runnable {
    private final RunQueue queue = new RunQueue(4, 2);
    private final StressedGate gate = new StressedGate();
    /** The reactor's. */
    private int ran;

    public OfferAndSleep() {
        queue.offer(this);
    }

    @Actor
    public void reactor(II_Result result) {
        queue.deliver(Runnable::run);
        gate.fallAsleep();
        result.r1 = ran == 2 || queue.isPending() ? 1 : 0;
    }

    @Actor
    public void producer(II_Result result) {
        queue.offer(this);
        result.r2 = gate.claimWake() ? 1 : 0;
    }

    @Override
    public void run() {
        ran++;
    }
}
