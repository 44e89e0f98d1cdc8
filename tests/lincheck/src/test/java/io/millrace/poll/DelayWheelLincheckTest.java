package io.millrace.poll;

import io.millrace.lincheck.Effort;
import io.millrace.sys.Bits;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/**
 * A node that is closed, or whose delays are cancelled, does not stay in the poll's wheel (end-7): of the poll, which puts it there, and of the one that ends it,
 * one sees the other. The wheel is a flag here, moved by the consumer as {@code Poll} moves its own.
 */
public class DelayWheelLincheckTest {
    private final ReadinessQueue queue = new ReadinessQueue(() -> {});
    private final SoftNode node = new SoftNode();
    private boolean inWheel;

    public DelayWheelLincheckTest() {
        node.bind(queue);
    }

    @Operation
    public void delay() {
        node.delay(Bits.READABLE, 1_000);
    }

    @Operation
    public void cancel() {
        node.cancelDelays();
    }

    @Operation
    public void set() {
        node.set(Bits.READABLE);
    }

    @Operation(runOnce = true)
    public void close() {
        node.close();
        node.cancelDelays();
    }

    @Operation(nonParallelGroup = "consumer")
    public void turn() {
        queue.takeSnapshot();
        for (SoftNode taken = queue.take(); taken != null; taken = queue.take()) {
            int word = taken.takeQueued();
            if (SoftNode.hasDelay(word) && !SoftNode.isClosed(word)) {
                inWheel = taken.fireDue(0, false) >= 0;
                if (!inWheel || !taken.markWheeled()) {
                    takeOut();
                }
            } else if (inWheel) {
                takeOut();
            }
        }
    }

    private void takeOut() {
        inWheel = false;
        node.clearWheeled();
    }

    @Validate
    public void whatIsGoneIsNotInTheWheel() {
        turn();
        if (inWheel && node.isClosed()) {
            throw new AssertionError("closed, and still in the wheel: " + node);
        }
    }

    @Test
    void aNodeThatIsGoneLeavesTheWheel_end7() {
        new ModelCheckingOptions()
                .sequentialSpecification(Nothing.class)
                .threads(3)
                .actorsPerThread(2)
                .actorsBefore(1)
                .actorsAfter(0)
                .iterations(20)
                .invocationsPerIteration(Effort.times(100))
                .check(DelayWheelLincheckTest.class);
    }

    /** No operation answers anything. */
    public static class Nothing {
        public void delay() {}

        public void cancel() {}

        public void set() {}

        public void close() {}

        public void turn() {}
    }
}
