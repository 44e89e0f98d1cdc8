package io.millrace.poll;

import io.millrace.sys.Bits;

/**
 * The kinds of readiness that a registration wants reported. Immutable; all eight combinations are created at start, so
 * none is allocated later.
 *
 * <p>{@link #NONE} keeps a source registered but silent.
 */
public final class Interest {
    private static final Interest[] ALL = new Interest[Bits.INTERESTS + 1];

    static {
        for (int bits = 0; bits <= Bits.INTERESTS; bits++) {
            ALL[bits] = new Interest(bits);
        }
    }

    /** Nothing: registered, but silent no matter what happens. */
    public static final Interest NONE = ALL[0];
    /** A read would not block. */
    public static final Interest READABLE = ALL[Bits.READABLE];
    /** A write would not block. */
    public static final Interest WRITABLE = ALL[Bits.WRITABLE];
    /** Both reading and writing. */
    public static final Interest READ_WRITE = ALL[Bits.READABLE | Bits.WRITABLE];
    /** Urgent data, if the backend supports it. */
    public static final Interest PRIORITY = ALL[Bits.PRIORITY];

    private final int bits;

    private Interest(int bits) {
        this.bits = bits;
    }

    /**
     * Returns the union of both interests.
     *
     * @param other the interest to add
     * @return the union
     */
    public Interest and(Interest other) {
        return ALL[bits | other.bits];
    }

    /**
     * Returns this interest without another.
     *
     * @param other the interest to remove
     * @return the difference
     */
    public Interest without(Interest other) {
        return ALL[bits & ~other.bits];
    }

    /**
     * Returns whether this interest includes every bit of another.
     *
     * @param other the interest to look for
     * @return true if it is included
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
