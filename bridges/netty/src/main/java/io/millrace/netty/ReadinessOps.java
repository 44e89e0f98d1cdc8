package io.millrace.netty;

import io.millrace.poll.Interest;
import io.millrace.sys.Bits;
import io.netty.channel.IoOps;

/** What a channel wants to be told of: readable, writable, both or nothing. */
enum ReadinessOps implements IoOps {
    NONE(0, Interest.NONE),
    READ(1, Interest.READABLE),
    WRITE(2, Interest.WRITABLE),
    READ_WRITE(3, Interest.READ_WRITE);

    private static final ReadinessOps[] BY_BITS = new ReadinessOps[4];

    static {
        BY_BITS[0] = NONE;
        BY_BITS[Bits.READABLE] = READ;
        BY_BITS[Bits.WRITABLE] = WRITE;
        BY_BITS[Bits.READABLE | Bits.WRITABLE] = READ_WRITE;
    }

    /** What a submission of it returns, as Netty wants it. */
    final long id;

    @SuppressWarnings("ImmutableEnumChecker") // an interest is immutable
    final Interest interest;

    ReadinessOps(long id, Interest interest) {
        this.id = id;
        this.interest = interest;
    }

    /** Returns the constant for {@link Bits#READABLE} and {@link Bits#WRITABLE}. */
    static ReadinessOps of(int bits) {
        return BY_BITS[bits];
    }
}
