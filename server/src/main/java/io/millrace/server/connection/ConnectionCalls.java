package io.millrace.server.connection;

import io.millrace.engine.AlarmCallback;
import io.millrace.engine.AlarmKey;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.support.ConnectionLog;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The layer of a {@link StreamConnection} that calls its handler: where callbacks run, that they run one at a time and
 * cannot break the loop, and that what was promised to other threads is called exactly once. It is apart because it
 * does not depend on what is sent or received; that a callback has returned, it says through {@link #afterCallback}.
 */
public abstract sealed class ConnectionCalls extends SendGate implements Connection permits ConnectionOutput {
    private static final VarHandle ERRANDS;

    static {
        try {
            ERRANDS = MethodHandles.lookup().findVarHandle(ConnectionCalls.class, "errands", Errands.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final ServerLoop loop;
    /** Used by callbacks. */
    ConnectionHandler handler;
    /** Runs the callbacks; null if they run on the loop, which keeps them in order anyway. */
    final @Nullable SerialExecutor callbacks;
    /** Calls that other threads were promised; null until there is one. */
    private volatile @Nullable Errands errands;
    /** Used by callbacks: {@code onConnect} threw, so the only further call is {@code onDisconnect}. */
    boolean refused;
    /** The user has closed it, so no input is delivered any more. One that ends by itself still delivers what came before. */
    volatile boolean unwanted;
    /** Used on the loop: whether a callback is running there. */
    boolean inCallback;

    ConnectionCalls(ServerLoop loop, ConnectionHandler handler, @Nullable SerialExecutor callbacks) {
        this.loop = loop;
        this.handler = handler;
        this.callbacks = callbacks;
    }

    // ---- What the layers above implement ----

    /** Called on the loop when a callback has returned that ran there: sends what it sent, and does what it asked for. */
    abstract void afterCallback();

    // ---- Calling the handler ----

    /** Calls the handler, here or where callbacks run. On the loop. */
    final void call(HandlerCall what) {
        SerialExecutor elsewhere = callbacks;
        if (elsewhere == null) {
            callHere(what);
        } else {
            elsewhere.execute(() -> callSafely(what));
        }
    }

    final boolean isOnLoop() {
        return callbacks == null;
    }

    /** Calls the handler on the loop. What it sends meanwhile is gathered, and flushed afterwards. */
    private void callHere(HandlerCall what) {
        boolean outer = inCallback;
        inCallback = true;
        callSafely(what);
        inCallback = outer;
        if (!outer) {
            afterCallback();
        }
    }

    /** Calls user code and catches whatever it throws. In a callback. */
    final void callSafely(HandlerCall what) {
        try {
            what.run();
        } catch (Throwable e) {
            tellThrown(e);
        }
    }

    /** Reports what a callback threw. Called where callbacks run. */
    final void tellThrown(Throwable thrown) {
        examine(thrown);
        ConnectionLog.tellThrown(handler, this, thrown);
    }

    /** Does what is to be done about anything that a callback threw. Called where callbacks run. */
    final void examine(Throwable thrown) {
        if (thrown instanceof InterruptedException && !isOnLoop()) {
            Thread.currentThread().interrupt(); // a loop's own thread must not stay interrupted
        }
        if (DebugBuffers.ON) {
            DebugBuffers.explain(handler, this, thrown);
        }
    }

    /** Reports another failure. Called where callbacks run. */
    final void tellError(Throwable failure) {
        ConnectionLog.tell(handler, this, failure);
    }

    /** Called right before a callback: whether the handler is still to be told of input. Failures and the end are always told. */
    final boolean isWanted() {
        return !refused && !unwanted;
    }

    /** Returns whether the calling thread is in one of its callbacks. */
    final boolean isInCallback() {
        SerialExecutor elsewhere = callbacks;
        return elsewhere == null ? loop.inLoop() && inCallback : elsewhere.isInside();
    }

    /** Replaces the handler, and returns the one before. In a callback only. */
    final ConnectionHandler replaceHandler(ConnectionHandler next) {
        ConnectionHandler present = handler;
        handler = next;
        return present;
    }

    // ---- Calls promised to other threads ----

    @Override
    public final void execute(Runnable task) {
        Errands.Task errand = new Errands.Task(Objects.requireNonNull(task, "task"));
        if (!errands().add(errand)) {
            throw ended(task);
        }
        SerialExecutor elsewhere = callbacks;
        if (elsewhere != null) {
            elsewhere.execute(() -> callSafely(() -> runTaken(errand, null)));
        } else {
            // From the loop too, and not at the end of its turn: tasks that other threads gave before stay ahead.
            try {
                loop.execute(() -> perform(errand, null));
            } catch (RejectedExecutionException e) {
                // In the loop's last turn, the end of the connection is still to come and runs it.
                if (!loop.inLoop() && refuse(errand)) {
                    throw ended(task);
                }
            }
        }
    }

    final void executeUnlessEnded(Runnable task) {
        try {
            execute(task);
        } catch (RejectedExecutionException e) {
            // The connection has ended, so no more bytes arrive.
        }
    }

    private RejectedExecutionException ended(Runnable task) {
        return new RejectedExecutionException("cannot run " + task + " on " + this + ": the connection has ended");
    }

    /** Runs an errand as a callback. On the loop. */
    final void perform(Errands.Errand errand, @Nullable IOException ended) {
        call(() -> runTaken(errand, ended));
    }

    /** Runs an errand, unless the end of the connection has. In a callback. */
    private void runTaken(Errands.Errand errand, @Nullable IOException ended) throws Exception {
        if (errand.take()) {
            Errands all = errands;
            if (all != null) {
                all.remove(errand);
            }
            errand.run(this, ended);
        }
    }

    /**
     * Takes back an errand that cannot be handed over. Returns false if the end of the connection has taken it. Any
     * thread.
     */
    final boolean refuse(Errands.Errand errand) {
        errands().remove(errand);
        return errand.take();
    }

    /** Returns the errands of other threads, creating them if necessary. Any thread. */
    final Errands errands() {
        Errands present = errands;
        if (present == null) {
            ERRANDS.compareAndSet(this, (Errands) null, new Errands());
            present = Objects.requireNonNull(errands);
        }
        return present;
    }

    /** Returns whether anything was ever promised. If not, no promise is made any more. On the loop, when it is over. */
    final boolean hasErrands() {
        return !ERRANDS.compareAndSet(this, (Errands) null, Errands.ENDED);
    }

    /** Refuses further promises, and returns those that the end of the connection has to keep. In a callback, when it is over. */
    final List<Errands.Errand> closeErrands() {
        Errands present = (Errands) ERRANDS.getAndSet(this, Errands.ENDED);
        return present == null ? List.of() : present.close();
    }

    // ---- The loop ----

    final void runOnLoop(Runnable what) {
        if (loop.inLoop()) {
            what.run();
        } else {
            try {
                loop.execute(what);
            } catch (RejectedExecutionException e) {
                // The loop has ended, and the connection with it.
            }
        }
    }

    /**
     * Runs a task on the loop, but never during a callback of another connection: closing calls a handler, which must
     * not happen in the middle of another call. During a callback of this connection, the task only sets a flag that is
     * checked when the callback returns.
     */
    final void runBetweenCallbacks(Runnable what) {
        if (loop.inLoop() && !inCallback) {
            loop.atEndOfTurn(what);
        } else {
            runOnLoop(what);
        }
    }

    /**
     * Schedules an alarm. Returns null in the loop's last turn, which accepts no alarms and ends this connection
     * anyway.
     */
    @Nullable
    final AlarmKey schedule(long nanos, AlarmCallback callback) {
        try {
            return loop.schedule(nanos, callback);
        } catch (RejectedExecutionException e) {
            return null;
        }
    }

    final void cancel(@Nullable AlarmKey alarm) {
        if (alarm != null) {
            loop.cancel(alarm);
        }
    }
}
