package io.millrace.sys.call;

import io.millrace.lincheck.Effort;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Test;

/** What is lent has one borrower at a time, whoever takes and gives back meanwhile (end-8). */
public class LendingPoolLincheckTest {
    /** Notes whether somebody has it. */
    static final class Thing {
        volatile boolean inUse;
    }

    private final LendingPool<Thing> pool = new LendingPool<>(2);

    public LendingPoolLincheckTest() {
        pool.giveBack(new Thing());
    }

    /** True if the borrower was alone. */
    @Operation
    public boolean borrow() {
        Thing taken = pool.take();
        Thing mine = taken == null ? new Thing() : taken;
        boolean alone = !mine.inUse;
        mine.inUse = true;
        mine.inUse = false;
        pool.giveBack(mine);
        return alone;
    }

    @Test
    void whatIsLentHasOneBorrower_end8() {
        new ModelCheckingOptions()
                .sequentialSpecification(Alone.class)
                .threads(2)
                .actorsPerThread(2)
                .actorsBefore(0)
                .actorsAfter(0)
                .iterations(5)
                .invocationsPerIteration(Effort.times(300))
                .check(LendingPoolLincheckTest.class);
    }

    /** One at a time, everybody is. */
    public static class Alone {
        public boolean borrow() {
            return true;
        }
    }
}
