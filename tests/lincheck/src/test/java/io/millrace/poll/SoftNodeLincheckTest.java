package io.millrace.poll;

import io.millrace.lincheck.Effort;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Test;

/**
 * The readiness of a node under concurrent sets, unsets, replaces and a close, while a consumer takes it out of the queue: each
 * takes effect at one moment between its call and its return (mio-13), and nothing is set after close (mio-11).
 */
@Param(name = "bits", gen = IntGen.class, conf = "1:3")
public class SoftNodeLincheckTest {
    private final ReadinessQueue queue = new ReadinessQueue(() -> {});
    private final SoftNode node = new SoftNode();

    public SoftNodeLincheckTest() {
        node.bind(queue);
    }

    @Operation
    public void set(@Param(name = "bits") int bits) {
        node.set(bits);
    }

    @Operation
    public void unset(@Param(name = "bits") int bits) {
        node.unset(bits);
    }

    @Operation
    public void replace(@Param(name = "bits") int bits) {
        node.replace(bits);
    }

    @Operation
    public int readiness() {
        return node.readiness();
    }

    @Operation(runOnce = true)
    public boolean close() {
        return node.close();
    }

    /** Changes nothing that anybody but the queue can see. */
    @Operation(nonParallelGroup = "consumer")
    public void deliver() {
        queue.takeSnapshot();
        for (SoftNode taken = queue.take(); taken != null; taken = queue.take()) {
            if ((taken.takeQueued() & SoftNode.QUEUED) == 0) {
                throw new AssertionError("in the queue twice");
            }
        }
    }

    @Test
    void readinessIsALinearizableRegisterOfBits_mio13_mio11() {
        new ModelCheckingOptions()
                .sequentialSpecification(RegisterOfBits.class)
                .threads(3)
                .actorsPerThread(2)
                .actorsBefore(1)
                .actorsAfter(1)
                .iterations(20)
                .invocationsPerIteration(Effort.times(100))
                .checkObstructionFreedom(true)
                .check(SoftNodeLincheckTest.class);
    }

    /** What the node amounts to if one operation runs at a time. */
    public static class RegisterOfBits {
        private int bits;
        private boolean closed;

        public void set(int added) {
            if (!closed) {
                bits |= added;
            }
        }

        public void unset(int taken) {
            bits &= ~taken;
        }

        public void replace(int by) {
            if (!closed) {
                bits = by;
            }
        }

        public int readiness() {
            return bits;
        }

        public boolean close() {
            boolean first = !closed;
            closed = true;
            return first;
        }

        public void deliver() {}
    }
}
