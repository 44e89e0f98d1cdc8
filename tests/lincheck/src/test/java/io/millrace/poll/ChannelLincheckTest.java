package io.millrace.poll;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import io.millrace.lincheck.Effort;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/**
 * A channel with many senders and one receiver is a queue, and its readiness follows it. C1 and C2 are those of {@link PendingCount}; they
 * are looked at when all have returned.
 */
@Param(name = "message", gen = IntGen.class, conf = "1:3")
public class ChannelLincheckTest {
    private final Channel<Integer> channel = Channel.over(new ConcurrentLinkedQueue<>());

    @Operation
    public void send(@Param(name = "message") int message) {
        channel.send(message);
    }

    @Operation(nonParallelGroup = "receiver")
    public Integer poll() {
        return channel.poll();
    }

    @Validate
    public void readinessFollowsTheQueue() {
        boolean readable = isReadable();
        boolean empty = true;
        while (channel.poll() != null) {
            empty = false;
            // Nobody races any more, so it must hold at each step: C1 if there is a next message.
            readable &= channel.size() == 0 || isReadable();
        }
        if (!empty && !readable) {
            throw new AssertionError("C1: a message waits and the channel is not readable: " + channel);
        }
        if (isReadable()) {
            throw new AssertionError("C2: found empty, and still readable: " + channel);
        }
    }

    private boolean isReadable() {
        return ((Registration) channel.handle()).readiness().isReadable();
    }

    @Test
    void isAFifoQueueThatIsReadableWhileItHoldsAMessage_mio20_mio21() {
        new ModelCheckingOptions()
                .sequentialSpecification(Fifo.class)
                .threads(3)
                .actorsPerThread(2)
                .actorsBefore(1)
                .actorsAfter(0)
                .iterations(12)
                .invocationsPerIteration(Effort.times(120))
                // Not our code: no need to stop inside it.
                .addGuarantee(forClasses(ConcurrentLinkedQueue.class.getName())
                        .allMethods()
                        .treatAsAtomic())
                .check(ChannelLincheckTest.class);
    }

    /** The same with one sender at a time. */
    public static class Fifo {
        private final Queue<Integer> messages = new ArrayDeque<>();

        public void send(int message) {
            messages.add(message);
        }

        public Integer poll() {
            return messages.poll();
        }
    }
}
