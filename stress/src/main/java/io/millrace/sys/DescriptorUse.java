package io.millrace.sys;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A real descriptor is used and closed at the same time: whoever got a use finds it open until the use is dropped, and afterwards
 * it is closed. (That it is closed only once is DescriptorTest's affair: here nobody gets the number again.)
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
    private final Descriptor descriptor = open();

    private static Descriptor open() {
        int[] ends = new int[2];
        if (Posix.pipe(CallState.current(), ends) < 0) {
            return null;
        }
        Posix.close(CallState.current(), ends[0]);
        return new Descriptor(ends[1], false);
    }

    @Actor
    public void user(II_Result result) {
        if (descriptor == null) {
            result.r1 = 5;
        } else if (descriptor.acquire()) {
            result.r1 = isOpen() ? 1 : 2;
            descriptor.release();
        }
    }

    @Actor
    public void closer() {
        if (descriptor != null) {
            descriptor.close();
        }
    }

    @Arbiter
    public void afterwards(II_Result result) {
        result.r2 = descriptor == null ? 5 : isOpen() ? 0 : 1;
    }

    private boolean isOpen() {
        return Posix.probe(CallState.current(), descriptor.fd()) >= 0;
    }
}
