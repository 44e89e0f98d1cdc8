package io.millrace.poll;

import java.time.Duration;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** mio-11: a source is set and closed while the poll collects and reads its event. After close has returned no cursor step finds it. */
@JCStressTest
@State
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "Closed before it was read.")
@Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "Read before it was closed.")
@Outcome(id = "2, 0", expect = Expect.FORBIDDEN, desc = "Read after it was closed.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Reported by a poll that began after the close.")
public class SetAndClose {
    private final Poll poll = new StressedPoll().poll();
    private final Registration registration = new Registration();
    private final Events events = Events.withCapacity(1);
    private volatile boolean closed;

    public SetAndClose() {
        poll.register(registration, 7, Interest.READABLE, Trigger.LEVEL);
        registration.setReadiness(Readiness.READABLE);
    }

    @Actor
    public void owner() {
        registration.setReadiness(Readiness.READABLE);
        registration.close();
        closed = true;
        registration.setReadiness(Readiness.READABLE);
    }

    @Actor
    public void poller(II_Result result) {
        poll.poll(events, Duration.ZERO);
        boolean after = closed;
        if (events.advance()) {
            result.r1 = after ? 2 : 1;
        }
    }

    @Arbiter
    public void afterwards(II_Result result) {
        result.r2 = poll.poll(events, Duration.ZERO) + poll.size();
    }
}
