package io.millrace.sys.call;

import java.io.IOException;

/** A system call that failed: which one, on which descriptor, and why. */
public final class ErrnoException extends IOException {
    private static final long serialVersionUID = 1;

    private final int code;

    /**
     * Describes a failed call.
     *
     * @param fd the descriptor, or negative if the call took none
     */
    public ErrnoException(String call, int fd, int code) {
        super(call + (fd >= 0 ? " on fd " + fd : "") + " failed: " + Errno.describe(code));
        this.code = code;
    }

    public int code() {
        return code;
    }

    public boolean is(Errno errno) {
        return errno.code() == code;
    }
}
