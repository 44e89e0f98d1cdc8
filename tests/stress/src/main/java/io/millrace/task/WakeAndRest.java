package io.millrace.task;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** uni-7, uni-9: a child is woken while its set comes to rest: the poll has the value, or the parent is called; never neither. */
@JCStressTest
@State
@Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "The poll found the value.")
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "The poll found the value, and the parent was called, too.")
@Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "The poll came too early, and the parent was called.")
@Outcome(expect = Expect.FORBIDDEN, desc = "The set sleeps over a value.")
public class WakeAndRest {
    private final FuturesUnordered<Integer> set = FuturesUnordered.create();
    private volatile Waker waker;
    private volatile Integer value;
    private volatile int calls;
    private int found;

    public WakeAndRest() {
        set.add(latest -> {
            waker = latest;
            Integer there = value;
            return there == null ? Step.pending() : Step.item(there);
        });
        set.poll(Waker.none());
    }

    @Actor
    public void completer() {
        value = 1;
        waker.wake();
    }

    @Actor
    public void consumer() {
        found = set.poll(() -> calls = 1) instanceof Step.Pending ? 0 : 1;
    }

    @Arbiter
    public void afterwards(II_Result result) {
        result.r1 = found;
        result.r2 = calls;
    }
}
