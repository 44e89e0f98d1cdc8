package io.millrace.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Decides how one wait for a source ends, and who cleans up after it.
 *
 * <pre>
 * NEW ──► OPENING ◄──► OPEN ──► ANSWERING ──► DONE
 *  │         └───────────│──────────▲
 *  └─────────────────────┴──► WITHDRAWN
 * </pre>
 *
 * While it is OPENING, somebody registers the source, or changes its registration. It can be answered then, but not be
 * withdrawn: a thread that has withdrawn may register the source anew, and nobody else must touch that registration.
 *
 * <p><b>One end.</b> An answer and a withdrawal are each a compare-and-set to another state, so one of them happens, once;
 * whoever made it cleans up. The answer is stored between {@link #tryAnswer} and {@link #answered}, and the thread looks
 * for it before each park.
 */
final class WaitGate {
    /** What became of an attempt to withdraw. */
    enum Withdrawal {
        /** There is an answer, or will be in a moment. */
        TOO_LATE,
        /** Nothing had been registered, and nothing will be. */
        UNREGISTERED,
        /** The caller has to clean up. */
        REGISTERED
    }

    private static final int NEW = 0;
    private static final int OPENING = 1;
    private static final int OPEN = 2;
    private static final int ANSWERING = 3;
    private static final int DONE = 4;
    private static final int WITHDRAWN = 5;

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(WaitGate.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile int state = NEW;

    /** Begins to register. False if it was withdrawn before. Else {@link #opened} follows, or {@link #tryAnswer}. */
    boolean open() {
        return STATE.compareAndSet(this, NEW, OPENING);
    }

    /** Begins to change the registration. False if it has ended, or is {@link #isOpening}. Else {@link #opened} follows. */
    boolean reopen() {
        return STATE.compareAndSet(this, OPEN, OPENING);
    }

    /** Has registered. False if it was answered meanwhile: then the caller takes back what it added after registering. */
    boolean opened() {
        return STATE.compareAndSet(this, OPENING, OPEN);
    }

    boolean isOpening() {
        return state == OPENING;
    }

    /** Begins to answer. If it is true, the caller cleans up, and {@link #answered} must follow. */
    boolean tryAnswer() {
        for (; ; ) {
            int seen = state;
            if (seen != OPENING && seen != OPEN) {
                return false;
            }
            if (STATE.compareAndSet(this, seen, ANSWERING)) {
                return true;
            }
        }
    }

    /** Has answered. The thread must be unparked after that. */
    void answered() {
        state = DONE;
    }

    /** Returns whether the answer is there. */
    boolean isDone() {
        return state == DONE;
    }

    /** Gives up. On the thread that waits. */
    Withdrawal withdraw() {
        for (; ; ) {
            int seen = state;
            if (seen >= ANSWERING) {
                return Withdrawal.TOO_LATE;
            }
            if (seen == OPENING) {
                Thread.onSpinWait(); // the loop is about to have registered it, while this thread runs elsewhere
            } else if (STATE.compareAndSet(this, seen, WITHDRAWN)) {
                return seen == OPEN ? Withdrawal.REGISTERED : Withdrawal.UNREGISTERED;
            }
        }
    }
}
