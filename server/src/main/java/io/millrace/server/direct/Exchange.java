package io.millrace.server.direct;

import io.millrace.engine.vthread.CarriedThread;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a thread waits for in one direction of a connection, and how its loop answers.
 *
 * <pre>
 * IDLE ──► OPENING ──► WAITING ──► SERVING ──► DONE ──► IDLE
 *  ▲                      │
 *  └──────────────────────┘  withdrawn by the thread
 * </pre>
 *
 * The thread opens it, and takes the answer or withdraws; the loop begins to serve it, and completes it. Both the
 * beginning and the withdrawal are a compare-and-set from WAITING, so one of them happens: a thread that has withdrawn
 * has its buffer to itself, and one that could not gets its answer, so that no byte is lost.
 *
 * <p><b>No wake-up is lost.</b> A thread opens it and then looks whether something was announced; whoever has something
 * for it, such as bytes that are kept or a close, announces that and then looks whether it is open. All of these are
 * volatile, so at least one of them sees the other, and has the loop look. The answer is stored before the thread is
 * unparked, and the thread looks for it before each park.
 */
public final class Exchange {
    private static final int IDLE = 0;
    private static final int OPENING = 1;
    private static final int WAITING = 2;
    private static final int SERVING = 3;
    private static final int DONE = 4;

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Exchange.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Consumer<Thread> waker;

    private volatile int state;
    /** Whether a thread that opens it has to ask the loop. */
    private volatile boolean announced;

    // ---- Written by the thread before WAITING ----
    private @Nullable Thread thread;
    private @Nullable CarriedThread carried;
    private @Nullable ByteBuffer target;
    private long deadline;
    private boolean limited;

    // ---- Written by the loop before DONE ----
    private int result;
    private @Nullable ByteBuffer came;
    private @Nullable IOException failure;

    /**
     * Creates one that is idle.
     *
     * @param waker unparks threads that the loop does not carry
     */
    Exchange(Consumer<Thread> waker) {
        this.waker = waker;
    }

    // ---- The thread ----

    /**
     * Opens it.
     *
     * @param by the calling thread, if the loop carries it
     * @param into where bytes go; null if the loop is to supply a buffer, or none are expected
     * @param limit whether there is a deadline
     * @param until the deadline
     * @return whether something was announced, so that the loop has to be asked for it
     * @throws IllegalStateException if another thread waits
     */
    boolean open(@Nullable CarriedThread by, @Nullable ByteBuffer into, boolean limit, long until) {
        if (!STATE.compareAndSet(this, IDLE, OPENING)) {
            throw new IllegalStateException("another thread waits in the same direction of this connection");
        }
        thread = Thread.currentThread();
        carried = by;
        target = into;
        limited = limit;
        deadline = until;
        state = WAITING;
        return announced; // not earlier: see the class comment
    }

    /** Returns whether the answer is there. */
    boolean isDone() {
        return state == DONE;
    }

    /** Gives up. Returns false if the loop has begun to answer: then the answer must be waited for. */
    boolean withdraw() {
        if (!STATE.compareAndSet(this, WAITING, OPENING)) {
            return false;
        }
        clear();
        state = IDLE;
        return true;
    }

    /** Takes the answer: how many bytes came, or a negative number. If bytes came in a buffer of the loop, see {@code into}. */
    int take(Answer into) throws IOException {
        int number = result;
        into.came = came;
        IOException thrown = failure;
        clear();
        state = IDLE;
        if (thrown != null) {
            throw thrown;
        }
        return number;
    }

    private void clear() {
        thread = null;
        carried = null;
        target = null;
        came = null;
        failure = null;
    }

    /** Where the loop's buffer goes. */
    static final class Answer {
        @Nullable
        ByteBuffer came;
    }

    // ---- Any thread ----

    /** Announces that there is something for the thread. Returns whether it waits, so that the loop has to look. */
    boolean announce() {
        announced = true;
        return state == WAITING;
    }

    // ---- The loop ----

    /** Undoes {@link #announce}: there is nothing any more, and the loop itself will answer when there is. */
    void retract() {
        announced = false;
    }

    boolean isWaiting() {
        return state == WAITING;
    }

    /** Begins to answer. If it is true, {@link #complete} must follow. */
    boolean begin() {
        return state == WAITING && STATE.compareAndSet(this, WAITING, SERVING);
    }

    /** Returns where bytes go. Between {@link #begin} and {@link #complete}. */
    @Nullable
    ByteBuffer target() {
        return target;
    }

    /** Returns whether it has a deadline. Exact between {@link #begin} and {@link #complete}; else a good guess. */
    boolean isLimited() {
        return limited;
    }

    long deadline() {
        return deadline;
    }

    /** Undoes {@link #begin}. The thread may have tried to withdraw meanwhile, so it looks again. */
    void putBack() {
        Thread waiting = thread;
        state = WAITING;
        LockSupport.unpark(waiting);
    }

    /** Answers, and wakes the thread; if the loop carries it, it runs within this call until it parks again. */
    void complete(int number, @Nullable ByteBuffer bytes, @Nullable IOException thrown) {
        Thread waiting = thread;
        CarriedThread onLoop = carried;
        result = number;
        came = bytes;
        failure = thrown;
        state = DONE;
        if (onLoop != null) {
            onLoop.resume();
        } else if (waiting != null) {
            waker.accept(waiting);
        }
    }
}
