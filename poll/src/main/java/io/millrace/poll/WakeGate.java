package io.millrace.poll;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Decides whether the polling thread has to be woken, and by which thread: only a sleeping thread is woken, and only
 * once.
 *
 * <p><b>The handshake.</b> The sleeper turns ASLEEP on, <em>then</em> checks once more whether there is work, then
 * waits. A waker publishes its work, <em>then</em> checks whether the sleeper is ASLEEP. On both sides this is a
 * volatile store before a volatile load, which no CPU and no compiler reorders. So at least one of the two sees the
 * other: the sleeper finds the work, or the waker finds the sleeper. If there are several wakers, the one that changes
 * ASLEEP to NOTIFIED makes the system call.
 *
 * <p>A waker may be late, so that its system call ends the next wait instead. This costs one empty turn and nothing
 * else.
 *
 * <p>The flag is padded: the polling thread writes it twice per wait, and every producer reads it.
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

    /** Called by the sleeper before its last check for work. */
    void fallAsleep() {
        state = ASLEEP;
    }

    /** Called by the sleeper after its wait, or after it found work. */
    void markAwake() {
        state = AWAKE;
    }

    /** Called by a waker after it published its work. Returns true if this caller has to wake the sleeper. */
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
