package io.millrace.engine.reactor;

import io.millrace.poll.StressedGate;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * An offer that adds a chunk, against a reactor that runs what is in the inbox and falls asleep while the chunk is being made. That moment is too short for chance, so the
 * reactor waits for it: until the producer asks for the size of the new chunk.
 */
@JCStressTest
@State
@Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "It sleeps on a task, and nobody wakes it.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "The sleeper found the task, the producer found the sleeper, or both.")
public class GrowAndSleep implements Runnable {
    private final Inbox<Runnable> inbox = new Inbox<>(2);
    private final StressedGate gate = new StressedGate();

    public GrowAndSleep() {
        inbox.offer(this);
    }

    @Actor
    public void reactor(II_Result result) {
        while (!inbox.isGrowing()) {
            Thread.onSpinWait();
        }
        inbox.poll();
        gate.fallAsleep();
        result.r1 = inbox.isEmpty() ? 0 : 1;
    }

    @Actor
    public void producer(II_Result result) {
        inbox.offer(this);
        result.r2 = gate.claimWake() ? 1 : 0;
    }

    @Override
    public void run() {}
}
