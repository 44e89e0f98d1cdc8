package io.millrace.poll;

import io.millrace.sys.Bits;

/**
 * What a registration wants to hear of. Immutable; there are eight of them, all made at start, so that none is ever allocated.
 *
 * <p>{@link #NONE} keeps a source registered and silent.
 */
public final class Interest {
    private static final Interest[] ALL = new Interest[Bits.INTERESTS + 1];

    static {
        for (int bits = 0; bits <= Bits.INTERESTS; bits++) {
            ALL[bits] = new Interest(bits);
        }
    }

    /** Nothing: registered, and silent whatever happens. */
    public static final Interest NONE = ALL[0];
    /** A read would not block. */
    public static final Interest READABLE = ALL[Bits.READABLE];
    /** A write would not block. */
    public static final Interest WRITABLE = ALL[Bits.WRITABLE];
    /** Either. */
    public static final Interest READ_WRITE = ALL[Bits.READABLE | Bits.WRITABLE];
    /** Urgent data, where the backend knows it. */
    public static final Interest PRIORITY = ALL[Bits.PRIORITY];

    private final int bits;

    private Interest(int bits) {
        this.bits = bits;
    }

    /**
     * Both interests.
     *
     * @param other the interest to add
     * @return the union
     */
    public Interest and(Interest other) {
        return ALL[bits | other.bits];
    }

    /**
     * This interest without another.
     *
     * @param other the interest to take away
     * @return the difference
     */
    public Interest without(Interest other) {
        return ALL[bits & ~other.bits];
    }

    /**
     * Whether every bit of another interest is in this one.
     *
     * @param other the interest to look for
     * @return true if it is contained
     */
    public boolean contains(Interest other) {
        return (bits & other.bits) == other.bits;
    }

    int bits() {
        return bits;
    }

    @Override
    public String toString() {
        return Readiness.names(bits);
    }
}
