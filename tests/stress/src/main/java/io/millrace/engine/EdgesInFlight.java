package io.millrace.engine;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** mill-3, mill-16: edges come while a handler is called; it hears of all, and what one call wrote plainly the next one reads. */
@JCStressTest
@State
@Outcome(id = "7, 3", expect = Expect.ACCEPTABLE, desc = "Each edge was told, in calls that saw each other's writes.")
@Outcome(expect = Expect.FORBIDDEN, desc = "An edge was lost, told twice, or two calls overlapped.")
public class EdgesInFlight {
    private final InFlight flight = new InFlight();
    /** Plain: of the handler, which relies on one call at a time. */
    private int seen;

    private int edges;

    public EdgesInFlight() {
        flight.begin(1);
    }

    @Actor
    public void worker() {
        handle();
    }

    @Actor
    public void loop() {
        if (flight.begin(2)) {
            handle();
        }
        if (flight.begin(4)) {
            handle();
        }
    }

    private void handle() {
        do {
            int bits = flight.take();
            seen |= bits;
            edges += Integer.bitCount(bits);
        } while (!flight.end());
    }

    @Arbiter
    public void afterwards(II_Result result) {
        result.r1 = seen;
        result.r2 = edges;
    }
}
