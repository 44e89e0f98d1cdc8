package io.millrace.task;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * uni-6: a waker sets bits on two pages while the consumer swaps the sides and drains. Somebody else is flagged from the start, so that there is something to swap for and the
 * two are not alone. What the consumer missed in its cycle is in the next; and the data that was written before the wake is seen by the poll.
 */
@JCStressTest
@State
@Outcome(id = "1, 1, 1", expect = Expect.ACCEPTABLE, desc = "Each was found once, with its data.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A wake-up was lost, came twice, or came without its data.")
public class WakeAndSwap {
    private final WakeSet wakes = new WakeSet();
    private final Child busy = wakes.add("busy", 0);
    private final Child other = wakes.add("other", 0);
    private final Child near = wakes.add("near", 0);
    private final Child far;
    private int data;
    private int foundNear;
    private int foundFar;
    private int seen;

    public WakeAndSwap() {
        for (int i = 3; i < Page.PLACES; i++) {
            wakes.add("filler", 0);
        }
        far = wakes.add("far", 0); // on a page of its own, so there are two layers
        busy.ask(); // the lone one
        other.ask(); // by its bit
    }

    @Actor
    public void waker() {
        data = 1;
        near.ask();
        far.ask();
    }

    @Actor
    public void consumer() {
        cycle();
    }

    private void cycle() {
        wakes.startCycle();
        for (Child child = wakes.next(); child != null; child = wakes.next()) {
            if (child.begin()) {
                if (child == near) {
                    foundNear++;
                    seen = data;
                }
                if (child == far) {
                    foundFar++;
                }
                child.pause();
            }
        }
    }

    @Arbiter
    public void afterwards(III_Result result) {
        cycle();
        result.r1 = foundNear;
        result.r2 = foundFar;
        result.r3 = seen;
    }
}
