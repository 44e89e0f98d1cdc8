package io.millrace.poll;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** mio-15: a poll goes to sleep while a source is set. Either it finds the work or it is woken. */
@JCStressTest
@State
@Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "The event, by the last look or by a wake-up.")
@Outcome(id = "1, 1", expect = Expect.FORBIDDEN, desc = "It slept on work, and nobody woke it.")
public class SleepAndWake {
    private final StressedPoll kernel = new StressedPoll();
    private final Registration registration = new Registration();
    private final Events events = Events.withCapacity(1);

    public SleepAndWake() {
        kernel.poll().register(registration, 7, Interest.READABLE, Trigger.EDGE);
    }

    @Actor
    public void sleeper(II_Result result) {
        result.r1 = kernel.poll().poll(events);
        result.r2 = kernel.lostWakeUp() ? 1 : 0;
    }

    @Actor
    public void waker() {
        registration.setReadiness(Readiness.READABLE);
        kernel.release();
    }
}
