package io.millrace.server;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * What waits to be sent on one connection, and whether more may come: a word and two flags that any thread may touch. The connection extends it, so that it costs
 * no object.
 *
 * <p>The word holds how many bytes of memory wait, wherever they are, and how many sends are announced: begun by a thread, and not yet arrived on the loop.
 *
 * <h2>Nothing that was taken is dropped by a close</h2>
 *
 * <ol>
 *   <li>A sender announces itself (a read-modify-write of the word), and then looks at the flags. If one is up it takes the announcement back, and its send is refused.
 *   <li>Who closes raises a flag, and then has the loop look at the word. The loop ends the output only when no send is announced.
 * </ol>
 *
 * All of these are volatile, so they have one order. A sender that saw no flag announced itself before the flag went up, and so before the loop looked: the loop sees the
 * announcement until that send has arrived, and looks again when it has. A sender that saw the flag has its announcement off the word again, and has the loop look once more, in
 * case the loop saw it. Either way the last look finds none.
 *
 * <h2>Admission</h2>
 *
 * A send is admitted if what waited before it is within the limit. The announcement says in one step what waited before and that this waits now; so whatever the number of threads,
 * what waits is never more than the limit and one message.
 */
abstract class SendGate {
    /** What became of an announcement. */
    enum Admission {
        TAKEN,
        /** A flag is up. */
        CLOSED,
        /** Too much waits. */
        FULL
    }

    /** What a send costs beyond its bytes until it has arrived: the task that brings it, the buffer around it. A flood of empty messages fills a heap, too. */
    static final int COST = 128;

    private static final int BYTES_BITS = 39;
    private static final long ONE = 1L << BYTES_BITS;
    private static final long MOST_SENDS = 1L << 24;
    /** The highest limit that means anything: no heap holds so much. */
    static final long MOST_BYTES = 1L << (BYTES_BITS - 1);

    /** What less than this waits is not told to {@link #charge}: a connection whose peer keeps up touches nothing that others touch. */
    private static final int GRAIN_BITS = 12;

    private static final VarHandle WORD;

    static {
        try {
            WORD = MethodHandles.lookup().findVarHandle(SendGate.class, "word", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("UnusedVariable") // by WORD
    private volatile long word;

    private volatile boolean ending;
    private volatile boolean outputEnding;

    // ---- Any thread ----

    /** Announces a send of so many bytes. If it is taken, {@link #arrived} or {@link #withdraw} must follow. */
    final Admission announce(int bytes, long limit) {
        if (refuses()) {
            return Admission.CLOSED;
        }
        long before = add(ONE + bytes);
        // Not above: see the essay. The charge of the line above may have ended this connection, too.
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

    /** Takes an announcement back. */
    final void withdraw(int bytes) {
        add(-ONE - bytes);
        if (refuses()) {
            lookAgain();
        }
    }

    /** No send is taken from now on: the connection ends. */
    final void end() {
        ending = true;
    }

    /** No send is taken from now on: the output ends, and input may still come. */
    final void endOutput() {
        outputEnding = true;
    }

    final boolean isEnding() {
        return ending;
    }

    final boolean isOutputEnding() {
        return outputEnding;
    }

    /** Whether a flag is up. */
    final boolean refuses() {
        return ending || outputEnding;
    }

    /** How many bytes wait in memory. */
    final long waitingBytes() {
        return (long) WORD.getVolatile(this) & (ONE - 1);
    }

    /** How much memory they take. */
    final long heldBytes() {
        return held((long) WORD.getVolatile(this));
    }

    // ---- The loop ----

    /** An announced send has arrived. Its bytes wait on. */
    final void arrived() {
        add(-ONE);
    }

    /** Bytes wait that nobody announced, because they are sent on the loop. */
    final void hold(long bytes) {
        add(bytes);
    }

    /** Bytes wait no longer. */
    final void release(long bytes) {
        if (bytes != 0) {
            add(-bytes);
        }
    }

    /** Whether no send is announced. For an end, to be asked after a flag went up. */
    final boolean isQuiet() {
        return sends((long) WORD.getVolatile(this)) == 0;
    }

    // ---- The connection's part ----

    /** Has the loop look whether it can end now. Any thread. */
    abstract void lookAgain();

    /** So many bytes more wait, or fewer, in grains. Any thread; the sum over all calls is right at any time. */
    abstract void charge(long bytes);

    /** Returns what the word was before. */
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
