package io.millrace.poll;

import io.millrace.sys.Bits;

/** When a ready source is reported. The rules are the same for kernel and software sources, on every backend. */
public enum Trigger {
    /** By every poll while it is ready. */
    LEVEL(Bits.LEVEL),
    /**
     * Once when it becomes ready, and again only after it was drained (a call returned would-block), became ready anew, or was
     * reregistered. A source that cannot tell the library of would-block is served as LEVEL where the kernel has no edges.
     */
    EDGE(Bits.EDGE),
    /** Once; then silent until it is reregistered. */
    ONESHOT(Bits.ONESHOT);

    private final int code;

    Trigger(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }
}
