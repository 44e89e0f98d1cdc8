package io.millrace.sys;

/**
 * The codes for readiness and triggers that pass between {@code sys} and {@code poll}. They are plain ints, so that the
 * hot path needs no objects.
 */
public final class Bits {
    public static final int READABLE = 1;
    public static final int WRITABLE = 1 << 1;
    public static final int PRIORITY = 1 << 2;
    public static final int ERROR = 1 << 3;
    public static final int READ_CLOSED = 1 << 4;
    public static final int WRITE_CLOSED = 1 << 5;

    /** The bits that may be in an interest. */
    public static final int INTERESTS = READABLE | WRITABLE | PRIORITY;
    /** All readiness bits. */
    public static final int ALL = (1 << 6) - 1;

    public static final int LEVEL = 0;
    public static final int EDGE = 1;
    public static final int ONESHOT = 2;

    private Bits() {}

    /**
     * Returns the part of {@code readiness} that is visible with {@code interest}. An error is visible in every
     * direction of the interest; hints about a closed direction are visible only with an interest in that direction;
     * with an empty interest nothing is visible.
     */
    public static int visible(int readiness, int interest) {
        if (interest == 0) {
            return 0;
        }
        int seen = readiness;
        if ((readiness & ERROR) != 0) {
            seen |= interest & (READABLE | WRITABLE);
        }
        return seen & (interest | ERROR | closedHints(interest));
    }

    private static int closedHints(int interest) {
        // READABLE << 4 is READ_CLOSED and WRITABLE << 4 is WRITE_CLOSED: no branch on the hot path.
        return (interest & (READABLE | WRITABLE)) << 4;
    }
}
