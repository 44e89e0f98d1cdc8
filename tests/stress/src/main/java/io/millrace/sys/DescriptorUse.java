package io.millrace.sys;

import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Posix;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The writing end of a real pipe is used and closed at the same time: whoever got a use writes into this pipe and no other, and
 * afterwards the reading end sees the end of the stream. (That it is closed only once is DescriptorTest's affair.)
 */
@JCStressTest
@State
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "Used, then closed.")
@Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "Closing, so no use was given.")
@Outcome(
        id = "5, 5",
        expect = Expect.ACCEPTABLE_INTERESTING,
        desc = "This process may not open so many files: not tested.")
@Outcome(id = "2, .*", expect = Expect.FORBIDDEN, desc = "Closed during a use.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Left open.")
public class DescriptorUse {
    /** jcstress makes as many states at once as fit into some memory; this keeps them below the number of files one may open. */
    final byte[] weight = new byte[32 << 10];

    private final int[] ends = new int[2];
    private final boolean opened = Posix.pipe(CallState.borrow(), ends) == 0;
    private final Descriptor writer = new Descriptor(ends[1], false);

    @Actor
    public void user(II_Result result) {
        if (!opened) {
            result.r1 = 5;
        } else if (writer.acquire()) {
            long scratch = CallState.borrow().scratch();
            boolean written = Posix.write(CallState.borrow(), writer.fd(), scratch, 1) == 1;
            boolean arrived = Posix.read(CallState.borrow(), ends[0], scratch, 1) == 1;
            result.r1 = written && arrived ? 1 : 2;
            writer.release();
        }
    }

    @Actor
    public void closer() {
        if (opened) {
            writer.close();
        }
    }

    @Arbiter
    public void afterwards(II_Result result) {
        if (!opened) {
            result.r2 = 5;
            return;
        }
        long endOfStream =
                Posix.read(CallState.borrow(), ends[0], CallState.borrow().scratch(), 1);
        result.r2 = endOfStream == 0 ? 1 : 0;
        Posix.close(CallState.borrow(), ends[0]);
    }
}
