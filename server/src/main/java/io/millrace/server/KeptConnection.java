package io.millrace.server;

import io.millrace.engine.AlarmKey;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.server.connect.ConnectTarget;
import io.millrace.server.connection.StreamConnection;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection that is made again whenever it ends, until this is closed: see {@link TcpClient#keepConnected}.
 *
 * <p><b>What it guarantees.</b> There is at most one connection at a time, and the handler's {@code onDisconnect} of one
 * has returned before the next one is begun. The same holds for {@code onError} of an attempt that failed: so the calls for
 * all connections and attempts never overlap, and none comes after {@link TcpClient#close} has returned. All connections are on the same loop. Nothing waits on a thread.
 *
 * <p><b>Threads.</b> Any thread may call any method; none of them waits.
 *
 * <p><b>Failures.</b> The handler's {@code onError} gets each failed attempt, without a connection; and at last that it
 * gave up, if attempts are {@linkplain Reconnect#maxAttempts limited}.
 */
public final class KeptConnection implements AutoCloseable {
    /** Where it stands. */
    public enum State {
        /** An attempt is under way. */
        CONNECTING,
        /** There is a connection. */
        CONNECTED,
        /** The last connection has ended, or the last attempt has failed; another one follows after a while. */
        WAITING,
        /** There will be no further connection: this was closed, or its client was, or it gave up. */
        ENDED
    }

    /** What it needs of its client. */
    interface Client {
        /** Begins an attempt. If there is a connection, it is shown on the loop before the handler is told of it. */
        CompletableFuture<Connection> connect(
                ServerLoop loop, ConnectTarget target, ConnectionHandler handler, Consumer<StreamConnection> onWon);

        /** Calls the handler where callbacks run, and then runs something there. On the loop. */
        void tell(ConnectionHandler handler, Throwable failure, Runnable then);

        /** Runs something when the last call for this connection has returned. */
        void afterEnd(StreamConnection connection, Runnable what);

        /** Exactly once: it does nothing more. */
        void forget(KeptConnection kept);
    }

    private final Client client;
    private final ServerLoop loop;
    private final ConnectTarget target;
    private final ConnectionHandler handler;
    private final Reconnect policy;

    private volatile State state = State.CONNECTING;
    private volatile @Nullable Connection current;
    private volatile boolean closed;
    private final AtomicBoolean forgotten = new AtomicBoolean();

    // ---- The loop's ----
    /** Since the last connection that stood for long enough. */
    private int attempts;

    private @Nullable CompletableFuture<Connection> attempt;
    private @Nullable AlarmKey alarm;

    KeptConnection(Client client, ServerLoop loop, ConnectTarget target, ConnectionHandler handler, Reconnect policy) {
        this.client = client;
        this.loop = loop;
        this.target = target;
        this.handler = handler;
        this.policy = policy;
    }

    /** Any thread, once. */
    void begin() {
        onLoop(this::connect);
    }

    private void connect() {
        if (closed) {
            end();
            return;
        }
        attempts++;
        state = State.CONNECTING;
        CompletableFuture<Connection> begun = client.connect(loop, target, handler, this::stands);
        attempt = begun;
        var ignored = begun.whenComplete((connection, failure) -> {
            if (failure != null) {
                onLoop(() -> failed(begun, failure));
            }
        });
    }

    /** On the loop, before its handler is told. */
    private void stands(StreamConnection connection) {
        attempt = null;
        long since = loop.nanoTime();
        client.afterEnd(connection, () -> {
            current = null;
            onLoop(() -> ended(loop.nanoTime() - since));
        });
        current = connection;
        state = State.CONNECTED;
        // It is there before the flag is looked at: so a close finds it, or is found here.
        if (closed) {
            connection.close();
        }
    }

    private void ended(long stoodNanos) {
        if (policy.isStanding(stoodNanos)) {
            attempts = 0;
        }
        connectLater(null);
    }

    /** A connection that its handler refused is told of by its end. */
    @SuppressWarnings("ReferenceEquality") // a future is itself
    private void failed(CompletableFuture<Connection> which, Throwable failure) {
        if (attempt == which) {
            attempt = null;
            if (closed) {
                end();
            } else {
                client.tell(handler, failure, () -> onLoop(() -> connectLater(failure)));
            }
        }
    }

    private void connectLater(@Nullable Throwable failure) {
        if (closed) {
            end();
        } else if (policy.givesUpAfter(attempts)) {
            IOException enough = new IOException("gave up connecting to " + target.name() + " after " + attempts
                    + " attempts; raise maxAttempts, or call keepConnected again");
            if (failure != null) {
                enough.initCause(failure);
            }
            closed = true; // and its state says so already when the handler is told
            client.tell(handler, enough, this::end);
        } else {
            try {
                alarm = loop.schedule(policy.waitNanos(Math.max(1, attempts)), this::waited);
                state = State.WAITING;
            } catch (RejectedExecutionException e) {
                end(); // the loop is in its last turn
            }
        }
    }

    private void waited(boolean fired) {
        alarm = null;
        if (fired) {
            connect();
        } else {
            end(); // closed, or the loop ends
        }
    }

    /** On the loop. */
    private void lookAtClose() {
        if (!closed) {
            return;
        }
        AlarmKey waiting = alarm;
        CompletableFuture<Connection> begun = attempt;
        if (waiting != null) {
            loop.cancel(waiting);
        } else if (begun != null) {
            begun.cancel(false);
        }
    }

    /** Nothing is left to tell. */
    private void end() {
        closed = true;
        state = State.ENDED;
        if (forgotten.compareAndSet(false, true)) {
            client.forget(this);
        }
    }

    private void onLoop(Runnable what) {
        if (loop.inLoop()) {
            what.run();
            return;
        }
        try {
            loop.execute(what);
        } catch (RejectedExecutionException e) {
            end(); // The loop has ended, and nothing else runs on it.
        }
    }

    /**
     * Connects no more, and closes the connection, if there is one, after its pending output was sent; its {@code
     * onDisconnect} is called. An attempt that is under way is given up. Does not wait. Idempotent.
     */
    @Override
    public void close() {
        closed = true;
        state = State.ENDED;
        Connection present = current;
        if (present != null) {
            present.close();
        }
        onLoop(this::lookAtClose);
    }

    /**
     * Returns the present connection.
     *
     * @return the connection; null if there is none
     */
    public @Nullable Connection connection() {
        return current;
    }

    /**
     * Returns where it stands.
     *
     * @return the state, which may change at any time
     */
    public State state() {
        return closed ? State.ENDED : state;
    }

    @Override
    public String toString() {
        return "connection kept with " + target.name() + ", " + state();
    }
}
