package io.millrace.sys;

import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Posix;

/** A pipe as two descriptors, for tests outside this module that run on the class path. */
public record TestPipe(Descriptor reader, Descriptor writer) {
    public static TestPipe open() {
        int[] ends = new int[2];
        int result = Posix.pipe(CallState.borrow(), ends);
        if (result < 0) {
            throw new IllegalStateException("cannot open a pipe: errno " + -result);
        }
        return new TestPipe(new Descriptor(ends[0], false), new Descriptor(ends[1], false));
    }

    /** Makes the reader readable. */
    public void writeByte() {
        if (writer.acquire()) {
            Posix.write(CallState.borrow(), writer.fd(), CallState.borrow().scratch(), 1);
            writer.release();
        }
    }
}
