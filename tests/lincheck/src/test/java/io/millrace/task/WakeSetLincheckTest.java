package io.millrace.task;

import io.millrace.lincheck.Effort;
import java.util.TreeSet;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Test;

/**
 * Wakers against a consumer that swaps and drains: each wake takes effect at one moment, each swap takes all that took effect before it, and the
 * drain comes in index order.
 */
@Param(name = "child", gen = IntGen.class, conf = "0:2")
public class WakeSetLincheckTest {
    private final WakeSet wakes = new WakeSet();
    private final Child[] children = new Child[3];

    public WakeSetLincheckTest() {
        // Two on one page and one on another, so that there are two layers.
        children[0] = wakes.add(0, 0);
        children[1] = wakes.add(1, 0);
        for (int i = 2; i < Page.PLACES; i++) {
            wakes.add("filler", 0);
        }
        children[2] = wakes.add(2, 0);
        // The bit that a new root begins with is found and gone.
        wakes.startCycle();
        wakes.next();
        wakes.startCycle();
        wakes.next();
    }

    @Operation
    public void wake(@Param(name = "child") int child) {
        children[child].ask();
    }

    /** Between two cycles: swaps. In a cycle: the next child that was woken, or the end of the cycle. */
    @Operation(nonParallelGroup = "consumer")
    public int next() {
        for (Child child = wakes.next(); child != null; child = wakes.next()) {
            if (child.begin()) {
                child.pause();
                for (int i = 0; i < children.length; i++) {
                    if (children[i] == child) {
                        return i;
                    }
                }
            }
        }
        return -1;
    }

    @Operation(nonParallelGroup = "consumer")
    public void swap() {
        if (next() == -1) {
            wakes.startCycle();
        }
    }

    @Test
    void wakesAreLinearizableAgainstSwaps_uni6() {
        new ModelCheckingOptions()
                .sequentialSpecification(TwoSets.class)
                .threads(3)
                .actorsPerThread(3)
                .actorsBefore(1)
                .actorsAfter(4)
                .iterations(20)
                .invocationsPerIteration(Effort.times(120))
                .checkObstructionFreedom(false)
                .check(WakeSetLincheckTest.class);
    }

    /** What it amounts to if one operation runs at a time. */
    public static class TwoSets {
        private final boolean[] woken = new boolean[3];
        private TreeSet<Integer> active = new TreeSet<>();
        private TreeSet<Integer> alternate = new TreeSet<>();

        public void wake(int child) {
            woken[child] = true;
            active.add(child);
        }

        public int next() {
            for (Integer child = alternate.pollFirst(); child != null; child = alternate.pollFirst()) {
                if (woken[child]) {
                    woken[child] = false;
                    return child;
                }
            }
            return -1;
        }

        public void swap() {
            if (next() == -1 && !active.isEmpty()) {
                TreeSet<Integer> former = alternate;
                alternate = active;
                active = former;
            }
        }
    }
}
