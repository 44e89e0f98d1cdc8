package io.millrace.task;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** uni-8: a child's waker is called while its place goes to another child: that one is never taken for woken. */
@JCStressTest
@State
@Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "The new owner is left alone.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A late waker woke the slot's next owner.")
public class LateWaker {
    private final WakeSet wakes = new WakeSet();
    private final Child lone = wakes.add("lone", 0);
    private final Child former = wakes.add("former", 0);
    private Child next;
    private int strangers;

    public LateWaker() {
        lone.ask(); // so that the former owner is flagged by its bit
    }

    @Actor
    public void waker() {
        former.ask();
    }

    @Actor
    public void consumer() {
        former.finish();
        wakes.free(former);
        next = wakes.add("next", 0);
        cycle();
    }

    private void cycle() {
        wakes.startCycle();
        for (Child child = wakes.next(); child != null; child = wakes.next()) {
            if (child.begin()) {
                strangers += child == next ? 1 : 0;
                child.pause();
            }
        }
    }

    @Arbiter
    public void afterwards(I_Result result) {
        cycle();
        cycle();
        result.r1 = next.index() == former.index() ? strangers : 9;
    }
}
