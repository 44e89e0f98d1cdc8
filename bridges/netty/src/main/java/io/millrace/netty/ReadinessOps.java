package io.millrace.netty;

import io.millrace.poll.Interest;
import io.millrace.sys.Bits;
import io.netty.channel.IoOps;

/** What a channel wants to be told of: readable, writable, both or nothing. */
enum ReadinessOps implements IoOps {
    NONE(Interest.NONE),
    READ(Interest.READABLE),
    WRITE(Interest.WRITABLE),
    READ_WRITE(Interest.READ_WRITE);

    private static final ReadinessOps[] BY_BITS = new ReadinessOps[4];

    static {
        BY_BITS[0] = NONE;
        BY_BITS[Bits.READABLE] = READ;
        BY_BITS[Bits.WRITABLE] = WRITE;
        BY_BITS[Bits.READABLE | Bits.WRITABLE] = READ_WRITE;
    }

    final Interest interest;

    ReadinessOps(Interest interest) {
        this.interest = interest;
    }

    /** Returns the constant for {@link Bits#READABLE} and {@link Bits#WRITABLE}. */
    static ReadinessOps of(int bits) {
        return BY_BITS[bits];
    }
}
