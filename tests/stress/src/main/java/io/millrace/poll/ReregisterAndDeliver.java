package io.millrace.poll;

import java.time.Duration;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * mio-4, mio-8: a source is ready outside its interest; a reregister widens the interest while the poll looks at it. The poll turns
 * QUEUED off before it looks, so one of the two sees the other.
 */
@JCStressTest
@State
@Outcome(id = "[01], 1", expect = Expect.ACCEPTABLE, desc = "Reported at least once, under the new token only.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Never reported, or under the old token.")
public class ReregisterAndDeliver {
    private static final int OLD = 1;
    private static final int NEW = 2;

    private final Poll poll = new StressedPoll().poll();
    private final Registration registration = new Registration();
    private final Events events = Events.withCapacity(1);

    public ReregisterAndDeliver() {
        poll.register(registration, OLD, Interest.WRITABLE, Trigger.EDGE);
        registration.setReadiness(Readiness.READABLE);
    }

    @Actor
    public void owner() {
        poll.reregister(registration, NEW, Interest.READABLE, Trigger.EDGE);
    }

    @Actor
    public void poller(II_Result result) {
        result.r1 = look();
    }

    private int look() {
        poll.poll(events, Duration.ZERO);
        int seen = 0;
        while (events.advance()) {
            seen = events.token() == NEW ? 1 : 9;
        }
        return seen;
    }

    @Arbiter
    public void afterwards(II_Result result) {
        result.r2 = Math.max(result.r1, look());
    }
}
