package io.millrace.poll;

import io.millrace.sys.Bits;

/**
 * When a ready source is reported. The rules are the same for kernel and software sources, on every backend; only what
 * happens if more arrives at an edge-triggered source that was not drained is left to the source and the backend.
 */
public enum Trigger {
    /** By every poll, for as long as the source is ready. */
    LEVEL(Bits.LEVEL),
    /**
     * Once when the source becomes ready, and again only after it was drained (a call returned would-block), became
     * ready anew, or was reregistered. So always read or write until would-block. If more arrives before the source was
     * drained, a descriptor is reported again with epoll and kqueue but not with poll(2) and NIO; a {@link Timer} is
     * reported again, as is a {@link Registration} that is set again, and a {@link Channel} is not. Rely on neither. If
     * the kernel has no edges, a source that cannot tell the library about would-block is treated as LEVEL.
     */
    EDGE(Bits.EDGE),
    /** Once; then not again until the source is reregistered. */
    ONESHOT(Bits.ONESHOT);

    private final int code;

    Trigger(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }
}
