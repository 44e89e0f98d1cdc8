package io.millrace.poll;

import io.millrace.sys.Bits;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** mio-13: one thread sets READABLE, another unsets WRITABLE and takes the node as the poll does. Neither undoes the other. */
@JCStressTest
@State
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "READABLE and nothing else, and it was delivered.")
@Outcome(id = "1, 0", expect = Expect.FORBIDDEN, desc = "The set left nobody to deliver it.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A set or an unset was lost.")
public class SetUnsetAndTake {
    private final ReadinessQueue queue = new ReadinessQueue(() -> {});
    private final SoftNode node = new SoftNode();
    private int delivered;

    public SetUnsetAndTake() {
        node.bind(queue);
        node.set(Bits.WRITABLE);
    }

    @Actor
    public void producer() {
        node.set(Bits.READABLE);
    }

    @Actor
    public void consumer() {
        node.unset(Bits.WRITABLE);
        take();
    }

    private void take() {
        queue.takeSnapshot();
        for (SoftNode taken = queue.take(); taken != null; taken = queue.take()) {
            delivered |= taken.takeQueued() & Bits.READABLE;
        }
    }

    @Arbiter
    public void afterwards(II_Result result) {
        take();
        result.r1 = node.readiness();
        result.r2 = delivered;
    }
}
