package io.millrace.server.connection;

import io.millrace.server.support.ServerSettings;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Decides whether a connection takes another send, and counts what is waiting: one atomic word and two flags that any
 * thread may use. The connection extends this class, so that it costs no object.
 *
 * <p>The word holds how many bytes in memory are waiting, wherever they are, and how many sends are announced: begun by
 * a thread but not yet arrived on the loop.
 *
 * <h2>A close drops nothing that was taken</h2>
 *
 * <ol>
 *   <li>A sender announces itself by a read-modify-write of the word, and then reads the flags. If one is set, it
 *       withdraws the announcement, and its send is refused.
 *   <li>A closer sets a flag, and then has the loop read the word. The loop ends the output only when no send is
 *       announced.
 * </ol>
 *
 * All of these accesses are volatile, so they have one order. A sender that saw no flag announced itself before the
 * flag was set, and so before the loop read the word. The loop sees the announcement until that send has arrived, and
 * then reads the word again. A sender that saw the flag withdraws its announcement and has the loop read the word once
 * more, in case the loop saw it. Either way, the last read finds none.
 *
 * <h2>Admission</h2>
 *
 * A send is admitted if what was waiting before it is within the limit. The announcement reads the old amount and adds
 * the new bytes in one step, so with any number of threads no more than the limit and one message is waiting.
 */
abstract class SendGate {
    /** The answer to an announcement. */
    enum Admission {
        TAKEN,
        /** Refused: a flag is set. */
        CLOSED,
        /** Refused: too much is waiting. */
        FULL
    }

    /**
     * What a send costs beyond its bytes until it has arrived: the task that carries it and the buffer object. Without
     * this, a flood of empty messages could fill the heap.
     */
    static final int COST = 128;

    /** One more than {@link ServerSettings#MOST_LIMIT} needs, because the last send may exceed it. */
    private static final int BYTES_BITS = 39;

    private static final long ONE = 1L << BYTES_BITS;
    private static final long MOST_SENDS = 1L << 24;
    /** For sends that no limit applies to. */
    static final long MOST_BYTES = ServerSettings.MOST_LIMIT;

    /**
     * Smaller amounts are not reported to {@link #charge}, so a connection whose peer keeps up writes to no variable
     * that other connections write to.
     */
    private static final int GRAIN_BITS = 12;

    private static final VarHandle WORD;

    static {
        try {
            WORD = MethodHandles.lookup().findVarHandle(SendGate.class, "word", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("UnusedVariable") // accessed through WORD
    private volatile long word;

    private volatile boolean ending;
    private volatile boolean outputEnding;

    // ---- Any thread ----

    /** Announces a send of {@code bytes}. If it is admitted, {@link #countArrival} or {@link #withdraw} must follow. */
    final Admission announce(int bytes, long limit) {
        if (refuses()) {
            return Admission.CLOSED;
        }
        long before = add(ONE + bytes);
        // Not earlier: see the class comment. The charge in the line above may also have closed this connection.
        if (refuses()) {
            withdraw(bytes);
            return Admission.CLOSED;
        }
        if (held(before) > limit || sends(before) >= MOST_SENDS) {
            withdraw(bytes);
            return Admission.FULL;
        }
        return Admission.TAKEN;
    }

    /** Withdraws an announcement. */
    public final void withdraw(int bytes) {
        add(-ONE - bytes);
        if (refuses()) {
            lookAgain();
        }
    }

    /** Refuses all further sends, because the connection is closing. */
    final void end() {
        ending = true;
    }

    /** Refuses all further sends, because the output is closing. Input may still arrive. */
    final void endOutput() {
        outputEnding = true;
    }

    final boolean isEnding() {
        return ending;
    }

    final boolean isOutputEnding() {
        return outputEnding;
    }

    /** Returns whether a flag is set. */
    public final boolean refuses() {
        return ending || outputEnding;
    }

    /** Returns how many bytes are waiting in memory. */
    final long waitingBytes() {
        return (long) WORD.getVolatile(this) & (ONE - 1);
    }

    /** Returns how much memory they take. */
    public final long heldBytes() {
        return held((long) WORD.getVolatile(this));
    }

    // ---- The loop ----

    /** Counts an announced send as arrived. Its bytes are still waiting. */
    final void countArrival() {
        add(-ONE);
    }

    /** Counts bytes as waiting that were sent on the loop and never announced. */
    final void hold(long bytes) {
        add(bytes);
    }

    /** Counts bytes as no longer waiting. */
    final void release(long bytes) {
        if (bytes != 0) {
            add(-bytes);
        }
    }

    /** Returns whether no send is announced. To end the output, call this after a flag was set. */
    final boolean isQuiet() {
        return sends((long) WORD.getVolatile(this)) == 0;
    }

    // ---- What the connection implements ----

    /** Has the loop check whether it can end the output now. Any thread. */
    abstract void lookAgain();

    /**
     * Reports a change of the waiting bytes, in whole grains. Any thread; the sum of all calls is correct at any time.
     */
    abstract void charge(long bytes);

    /** Returns the previous value of the word. */
    private long add(long change) {
        long before = (long) WORD.getAndAdd(this, change);
        long grains = (held(before + change) >> GRAIN_BITS) - (held(before) >> GRAIN_BITS);
        if (grains != 0) {
            charge(grains << GRAIN_BITS);
        }
        return before;
    }

    private static long sends(long word) {
        return word >>> BYTES_BITS;
    }

    private static long held(long word) {
        return (word & (ONE - 1)) + sends(word) * COST;
    }
}
