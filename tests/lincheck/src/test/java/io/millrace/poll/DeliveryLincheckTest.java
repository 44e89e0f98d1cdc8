package io.millrace.poll;

import io.millrace.lincheck.Effort;
import io.millrace.sys.Bits;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/**
 * What a notification is for: each producer publishes work and then sets READABLE; the consumer, when it is told, unsets READABLE
 * and takes the work that it sees. Others play with WRITABLE. When all have returned, one more look must find all the work; the
 * node was never twice in the queue.
 */
public class DeliveryLincheckTest {
    private final ReadinessQueue queue = new ReadinessQueue(() -> {});
    private final SoftNode node = new SoftNode();
    private final AtomicInteger produced = new AtomicInteger();
    private int consumed;

    public DeliveryLincheckTest() {
        node.bind(queue);
    }

    @Operation
    public void produceAndSet() {
        produced.incrementAndGet();
        node.set(Bits.READABLE);
    }

    @Operation
    public void produceAndReplace() {
        produced.incrementAndGet();
        node.replace(Bits.READABLE);
    }

    @Operation
    public void setWritable() {
        node.set(Bits.WRITABLE);
    }

    @Operation
    public void unsetWritable() {
        node.unset(Bits.WRITABLE);
    }

    @Operation(nonParallelGroup = "consumer")
    public void consume() {
        queue.takeSnapshot();
        for (SoftNode taken = queue.take(); taken != null; taken = queue.take()) {
            int word = taken.takeQueued();
            if ((word & SoftNode.QUEUED) == 0) {
                throw new AssertionError("in the queue twice");
            }
            if ((word & Bits.READABLE) != 0) {
                node.unset(Bits.READABLE);
                consumed = produced.get();
            }
        }
    }

    @Validate
    public void oneMoreLookFindsAllTheWork() {
        consume();
        if (consumed != produced.get()) {
            throw new AssertionError("produced " + produced + ", told of " + consumed + "; " + node);
        }
        if (queue.hasPushed() || !queue.isDrained()) {
            throw new AssertionError("still queued: " + node);
        }
    }

    @Test
    void noNotificationOfSeveralProducersIsLost_mio13_mio16() {
        new ModelCheckingOptions()
                .threads(3)
                .actorsPerThread(2)
                .actorsBefore(0)
                .actorsAfter(0)
                .iterations(14)
                .invocationsPerIteration(Effort.times(120))
                .checkObstructionFreedom(true)
                .check(DeliveryLincheckTest.class);
    }
}
