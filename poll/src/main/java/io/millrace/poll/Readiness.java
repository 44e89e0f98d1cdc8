package io.millrace.poll;

import io.millrace.sys.Bits;
import java.util.StringJoiner;

/**
 * What a source is ready for. Immutable; all 64 combinations are created at start, so none is allocated later.
 *
 * <p>{@link #READABLE} and {@link #WRITABLE} are reported on every backend. The others are hints: a backend that does
 * not know them leaves them out, and the next call on the source finds out the same.
 */
public final class Readiness {
    private static final Readiness[] TABLE = new Readiness[Bits.ALL + 1];

    static {
        for (int bits = 0; bits <= Bits.ALL; bits++) {
            TABLE[bits] = new Readiness(bits);
        }
    }

    /** Nothing. */
    public static final Readiness NONE = TABLE[0];
    /** A read would not block: there is data, the end of the stream, or an error to be read. */
    public static final Readiness READABLE = TABLE[Bits.READABLE];
    /** A write would not block. */
    public static final Readiness WRITABLE = TABLE[Bits.WRITABLE];
    /** Both reading and writing. */
    public static final Readiness READ_WRITE = TABLE[Bits.READABLE | Bits.WRITABLE];
    /** Urgent data. */
    public static final Readiness PRIORITY = TABLE[Bits.PRIORITY];
    /** An error is pending. Reported together with every direction that the registration is interested in. */
    public static final Readiness ERROR = TABLE[Bits.ERROR];
    /** The peer will send no more: read until the end of the stream. */
    public static final Readiness READ_CLOSED = TABLE[Bits.READ_CLOSED];
    /** The peer will take no more. */
    public static final Readiness WRITE_CLOSED = TABLE[Bits.WRITE_CLOSED];

    private final int bits;

    private Readiness(int bits) {
        this.bits = bits;
    }

    static Readiness of(int bits) {
        return TABLE[bits];
    }

    /**
     * Returns the union of both.
     *
     * @param other the readiness to add
     * @return the union
     */
    public Readiness and(Readiness other) {
        return TABLE[bits | other.bits];
    }

    /**
     * Returns whether this readiness includes every bit of another.
     *
     * @param other the readiness to look for
     * @return true if it is included
     */
    public boolean contains(Readiness other) {
        return (bits & other.bits) == other.bits;
    }

    /**
     * Returns whether a read would not block.
     *
     * @return true if so
     */
    public boolean isReadable() {
        return (bits & Bits.READABLE) != 0;
    }

    /**
     * Returns whether a write would not block.
     *
     * @return true if so
     */
    public boolean isWritable() {
        return (bits & Bits.WRITABLE) != 0;
    }

    /**
     * Returns whether an error is pending.
     *
     * @return true if so
     */
    public boolean isError() {
        return (bits & Bits.ERROR) != 0;
    }

    /**
     * Returns whether the peer will send no more.
     *
     * @return true if the backend reported it
     */
    public boolean isReadClosed() {
        return (bits & Bits.READ_CLOSED) != 0;
    }

    /**
     * Returns whether the peer will take no more.
     *
     * @return true if the backend reported it
     */
    public boolean isWriteClosed() {
        return (bits & Bits.WRITE_CLOSED) != 0;
    }

    /**
     * Returns whether there is urgent data.
     *
     * @return true if so
     */
    public boolean isPriority() {
        return (bits & Bits.PRIORITY) != 0;
    }

    int bits() {
        return bits;
    }

    @Override
    public String toString() {
        return names(bits);
    }

    static String names(int bits) {
        StringJoiner names = new StringJoiner("|");
        names.setEmptyValue("NONE");
        String[] all = {"READABLE", "WRITABLE", "PRIORITY", "ERROR", "READ_CLOSED", "WRITE_CLOSED"};
        for (int i = 0; i < all.length; i++) {
            if ((bits & 1 << i) != 0) {
                names.add(all[i]);
            }
        }
        return names.toString();
    }
}
