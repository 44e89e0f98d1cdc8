package io.millrace.sys;

/**
 * The readiness and trigger codes that cross the seam between {@code sys} and {@code poll}, as plain ints: the hot path
 * handles no objects.
 */
public final class Bits {
    public static final int READABLE = 1;
    public static final int WRITABLE = 1 << 1;
    public static final int PRIORITY = 1 << 2;
    public static final int ERROR = 1 << 3;
    public static final int READ_CLOSED = 1 << 4;
    public static final int WRITE_CLOSED = 1 << 5;

    /** What a caller may be interested in. */
    public static final int INTERESTS = READABLE | WRITABLE | PRIORITY;
    /** Every readiness bit there is. */
    public static final int ALL = (1 << 6) - 1;

    public static final int LEVEL = 0;
    public static final int EDGE = 1;
    public static final int ONESHOT = 2;

    private Bits() {}

    /**
     * What of {@code readiness} a caller with {@code interest} may see. An error reaches every interested direction; the
     * hints about a closed direction come only to those interested in that direction; an empty interest sees nothing.
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
