package io.millrace.sys;

/**
 * The 64 bits that travel through the kernel with a registration: {@code generation:32 | op:6 | index:26}.
 *
 * <p>The index finds the slot by an array load. The generation distinguishes a late event of an earlier registration
 * from one of the slot's current registration. The op says what the key is for ({@link #OP_SOURCE}, {@link #OP_WAKE}; a
 * completion backend has more).
 */
public final class KernelKey {
    public static final int INDEX_BITS = 26;
    public static final int MAX_INDEX = (1 << INDEX_BITS) - 1;
    public static final int OP_SOURCE = 0;
    public static final int OP_WAKE = 1;

    /** Marks the backend's own wake-up descriptor; never the key of a source. */
    public static final long WAKE = (long) OP_WAKE << INDEX_BITS;

    private KernelKey() {}

    public static long of(int generation, int index) {
        return (long) generation << 32 | index;
    }

    public static int index(long key) {
        return (int) key & MAX_INDEX;
    }

    public static int generation(long key) {
        return (int) (key >>> 32);
    }

    public static boolean isWake(long key) {
        return ((int) key >>> INDEX_BITS) == OP_WAKE;
    }
}
