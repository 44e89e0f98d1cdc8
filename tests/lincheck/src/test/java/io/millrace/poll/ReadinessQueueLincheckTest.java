package io.millrace.poll;

import io.millrace.lincheck.Effort;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Test;

/**
 * One node is set and unset by one thread and delivered by another, as {@link Poll} does it; a second node crosses it in the
 * queue. What is delivered is linearizable: it is that of a register of bits with a flag "set since the last delivery".
 *
 * <p>With several producers of one node only what {@link DeliveryLincheckTest} checks is left of it: the one that turned QUEUED
 * on may be late to push, and until then the others' sets have returned and wait for it.
 */
@Param(name = "bits", gen = IntGen.class, conf = "1:3")
public class ReadinessQueueLincheckTest {
    private static final int NOTHING = -1;

    private final ReadinessQueue queue = new ReadinessQueue(() -> {});
    private final SoftNode node = boundNode();
    private final SoftNode other = boundNode();

    private SoftNode boundNode() {
        SoftNode bound = new SoftNode();
        bound.bind(queue);
        return bound;
    }

    @Operation(nonParallelGroup = "producer")
    public void set(@Param(name = "bits") int bits) {
        node.set(bits);
    }

    @Operation(nonParallelGroup = "producer")
    public void unset(@Param(name = "bits") int bits) {
        node.unset(bits);
    }

    @Operation
    public void setOther() {
        other.set(1);
    }

    @Operation(nonParallelGroup = "consumer")
    public int deliver() {
        int delivered = NOTHING;
        queue.takeSnapshot();
        for (SoftNode taken = queue.take(); taken != null; taken = queue.take()) {
            int word = taken.takeQueued();
            if ((word & SoftNode.QUEUED) == 0 || (taken == node && delivered != NOTHING)) {
                throw new AssertionError("in the queue twice: " + taken);
            }
            if (taken == node) {
                delivered = word & 3;
            }
        }
        return delivered;
    }

    @Test
    void whatIsDeliveredIsThatOfARegisterWithAPendingFlag_mio13_mio16() {
        new ModelCheckingOptions()
                .sequentialSpecification(RegisterWithFlag.class)
                .threads(3)
                .actorsPerThread(2)
                .actorsBefore(1)
                .actorsAfter(1)
                .iterations(30)
                .invocationsPerIteration(Effort.times(120))
                .checkObstructionFreedom(true)
                .check(ReadinessQueueLincheckTest.class);
    }

    /** What the node and the queue amount to if one operation runs at a time. */
    public static class RegisterWithFlag {
        private int bits;
        private boolean pending;

        public void set(int added) {
            bits |= added;
            pending = true;
        }

        public void unset(int taken) {
            bits &= ~taken;
        }

        public void setOther() {}

        public int deliver() {
            int delivered = pending ? bits : NOTHING;
            pending = false;
            return delivered;
        }
    }
}
