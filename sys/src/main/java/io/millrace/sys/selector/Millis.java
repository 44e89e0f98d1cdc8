package io.millrace.sys.selector;

/**
 * Timeouts for mechanisms that count in milliseconds. Separate from the native calls, because NIO needs it without
 * them.
 */
final class Millis {
    private Millis() {}

    /**
     * Returns milliseconds, rounded up, so that no wait ends early; negative means for ever, which is −1 for poll(2)
     * and epoll_wait(2).
     */
    static int ceil(long nanos) {
        if (nanos < 0) {
            return -1;
        }
        long millis = nanos / 1_000_000 + (nanos % 1_000_000 == 0 ? 0 : 1);
        return (int) Math.min(millis, Integer.MAX_VALUE);
    }
}
