package io.millrace.poll;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Whether the poll thread sleeps, and who wakes it: only a sleeper is woken, and by one waker.
 *
 * <p><b>The handshake.</b> The sleeper turns ASLEEP on, <em>then</em> looks once more whether there is work, then waits. A
 * waker publishes its work, <em>then</em> looks whether the sleeper is ASLEEP. Both pairs are a volatile store before a
 * volatile load, which no CPU and no compiler reorders; so at least one of the two sees the other: the sleeper finds the work
 * or the waker finds the sleeper. Of several wakers the one whose ASLEEP → NOTIFIED succeeds makes the system call.
 *
 * <p>A waker may be late, so that its system call ends the wait after this one. That costs one empty turn, nothing else.
 *
 * <p>The flag is padded: it is written by the poll thread twice a wait and read by every producer.
 */
final class WakeGate extends WakeGateFlag {
    private static final int AWAKE = 0;
    private static final int ASLEEP = 1;
    private static final int NOTIFIED = 2;

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(WakeGateFlag.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    long q0, q1, q2, q3, q4, q5, q6, q7;

    /** The sleeper, before its last look for work. */
    void fallAsleep() {
        state = ASLEEP;
    }

    /** The sleeper, after its wait or after it found work. */
    void awake() {
        state = AWAKE;
    }

    /** A waker, after it published its work: true if the sleeper must be woken, and by this caller. */
    boolean claimWake() {
        return state == ASLEEP && STATE.compareAndSet(this, ASLEEP, NOTIFIED);
    }
}

abstract class WakeGatePad {
    long p0, p1, p2, p3, p4, p5, p6, p7;
}

abstract class WakeGateFlag extends WakeGatePad {
    volatile int state;
}
