package io.millrace.poll;

import io.millrace.sys.Bits;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Why a set never skips its write, even if every bit is on already: what the caller stored before it, in a plain field, is seen by
 * the last delivery. A set that only looked could do so before its store is visible, and the delivery would miss it.
 */
@JCStressTest
@State
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "The last delivery sees the data.")
@Outcome(id = "0", expect = Expect.FORBIDDEN, desc = "Data was published, and no delivery sees it.")
public class SetPublishes {
    private final ReadinessQueue queue = new ReadinessQueue(() -> {});
    private final SoftNode node = new SoftNode();
    private int data;
    private int seen;

    public SetPublishes() {
        node.bind(queue);
        node.set(Bits.READABLE); // so that the producer's set would change nothing
        queue.takeSnapshot();
    }

    @Actor
    public void producer() {
        data = 1;
        node.set(Bits.READABLE);
    }

    @Actor
    public void consumer() {
        deliver();
    }

    private void deliver() {
        SoftNode taken = queue.take();
        if (taken != null) {
            taken.takeQueued();
            seen = data;
        }
    }

    @Arbiter
    public void afterwards(I_Result result) {
        queue.takeSnapshot();
        deliver();
        result.r1 = seen;
    }
}
