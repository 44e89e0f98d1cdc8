package io.millrace.server.connect;

import io.millrace.engine.AlarmKey;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.net.ByteStream;
import io.millrace.net.Resolver;
import io.millrace.net.UnixAddress;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.connection.ConnectAttempt;
import io.millrace.server.connection.ConnectionDispatcher;
import io.millrace.server.connection.SerialExecutor;
import io.millrace.server.connection.StreamConnection;
import io.millrace.server.group.Connections;
import io.millrace.server.support.ServerSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One connection to be made, to the first address of a host that answers (RFC 8305, Happy Eyeballs). All of it happens on one loop, so it needs no locks; only the name is resolved elsewhere.
 *
 * <h2>The course</h2>
 *
 * <ol>
 *   <li>The name is resolved, off the loop, and its addresses are put in an {@link AddressOrder order}. An address that was given is the only one.
 *   <li>The first one is tried. The next one follows after {@link #ATTEMPT_DELAY_NANOS}, or as soon as an attempt has failed; earlier ones go on meanwhile.
 *   <li>The first connection that stands wins, and only then is a handler told of it. The others are aborted, and nobody hears of them.
 * </ol>
 *
 * <h2>The end</h2>
 *
 * The future is the one word on how it went: a winner completes it, and so does whoever fails, cancels or closes, on any thread. {@link #end} follows on the loop, exactly once, and leaves no alarm, look-up or attempt behind. Until then the
 * race counts among what a closing client waits for.
 */
public final class ConnectRace {
    /** How long an attempt is alone before the next one begins. Recommended in RFC 8305, section 5. */
    static final long ATTEMPT_DELAY_NANOS = 250_000_000;

    /** As far ahead as a clock that is compared by subtraction allows: 36 years. */
    private static final long NEVER_NANOS = Long.MAX_VALUE / 8;

    /** What all races of a client share. */
    public record Terms(
            ServerSettings settings,
            ConnectionDispatcher callbacks,
            Connections connections,
            Resolver resolver,
            long connectNanos) {}

    private final Terms terms;
    private final ServerLoop loop;
    private final ConnectTarget target;
    private final ConnectionHandler handler;
    private final CompletableFuture<Connection> made;
    private final Consumer<StreamConnection> onWon;

    // ---- The loop's ----
    private final ArrayDeque<InetSocketAddress> untried = new ArrayDeque<>();
    private final Map<InetSocketAddress, StreamConnection> open = new LinkedHashMap<>();
    private final ConnectFailures failures;
    private Resolver.@Nullable Lookup lookup;
    private @Nullable AlarmKey deadline;
    private @Nullable AlarmKey nextAttempt;
    private @Nullable StreamConnection winner;
    private boolean proceeding;

    /**
     * @param target an address, a name to be resolved, or a Unix socket
     * @param made completed when the handler has been told, or with the reason why there is no connection
     * @param onWon gets the connection on the loop, before its handler is told
     */
    public ConnectRace(
            Terms terms,
            ServerLoop loop,
            ConnectTarget target,
            ConnectionHandler handler,
            CompletableFuture<Connection> made,
            Consumer<StreamConnection> onWon) {
        this.terms = terms;
        this.loop = loop;
        this.target = target;
        this.handler = handler;
        this.made = made;
        this.onWon = onWon;
        this.failures = new ConnectFailures(target);
    }

    public static IllegalStateException closed(ConnectTarget target) {
        return new IllegalStateException("cannot connect to " + target.name() + ": the client is closed");
    }

    /** On the loop. */
    public void begin() {
        if (made.isDone()) {
            return; // cancelled, or the client was closed
        }
        if (!terms.connections.tryEnter(this)) {
            made.completeExceptionally(closed(target));
            return;
        }
        var ignored = made.whenComplete((there, failure) -> endOnLoop(failure != null));
        if (made.isDone()) {
            return; // since it was looked at, so it may have ended already
        }
        try {
            // Also if there is no limit: an alarm is told when the loop ends, which a name that is being resolved is
            // not.
            deadline = loop.schedule(terms.connectNanos > 0 ? terms.connectNanos : NEVER_NANOS, this::timeUp);
            if (target.isName()) {
                resolve();
            } else {
                untried.add(target.address());
                proceed();
            }
        } catch (Throwable e) {
            made.completeExceptionally(e);
        }
    }

    // ---- The name ----

    private void resolve() {
        Resolver.Lookup begun = terms.resolver.lookUp(target.address().getHostString());
        lookup = begun;
        var ignored = begun.future().whenComplete((found, failure) -> {
            try {
                loop.execute(() -> resolved(begun));
            } catch (RejectedExecutionException e) {
                made.completeExceptionally(e);
            }
        });
    }

    private void resolved(Resolver.Lookup answered) {
        lookup = null;
        answered.close();
        if (isDecided()) {
            return;
        }
        try {
            for (InetAddress address : AddressOrder.interleave(answered.result())) {
                untried.add(new InetSocketAddress(address, target.address().getPort()));
            }
        } catch (IOException e) {
            fail(e);
            return;
        }
        proceed();
    }

    // ---- Attempts ----

    /** Begins the next attempt, if there is one, and gives up if there is none left. */
    private void proceed() {
        if (proceeding || isDecided()) {
            return; // an attempt that fails at once: the loop below goes on
        }
        proceeding = true;
        cancel(nextAttempt);
        nextAttempt = null;
        boolean underWay = false;
        while (!underWay && !isDecided() && !untried.isEmpty()) {
            underWay = attempt(untried.remove());
        }
        proceeding = false;
        if (isDecided()) {
            return;
        }
        if (underWay && !untried.isEmpty()) {
            nextAttempt = loop.schedule(ATTEMPT_DELAY_NANOS, fired -> {
                nextAttempt = null;
                if (fired) {
                    proceed();
                }
            });
        } else if (open.isEmpty()) {
            fail(failures.all());
        }
    }

    /** False if it has failed already. */
    private boolean attempt(InetSocketAddress address) {
        if (terms.connections.admit(address.getAddress()) != Connections.Admission.TAKEN) {
            made.completeExceptionally(closed(target));
            return false;
        }
        ByteStream stream = null;
        StreamConnection connection;
        try {
            stream = connect(address);
            connection = new StreamConnection(
                    terms.connections.nextId(),
                    loop,
                    stream,
                    address,
                    new Attempt(address),
                    terms.settings,
                    terms.callbacks,
                    terms.connections);
        } catch (Throwable e) {
            if (stream != null) {
                stream.close();
            }
            terms.connections.leave(address.getAddress());
            failures.add(address, e);
            return false;
        }
        open.put(address, connection);
        terms.connections.addAttempt(connection);
        connection.open();
        return open.containsKey(address);
    }

    /** A Unix socket is connected at once, or fails. */
    private ByteStream connect(InetSocketAddress address) throws IOException {
        UnixAddress unix = target.unix();
        if (unix == null) {
            return loop.net().connect(address, terms.settings.connecting());
        }
        ByteStream stream = loop.net().connect(unix);
        try {
            terms.settings.applyBuffers(stream);
        } catch (Throwable e) {
            stream.close();
            throw e;
        }
        return stream;
    }

    /** What a connection that does not stand yet has for a handler. On the loop, where nothing else is said. */
    private final class Attempt implements ConnectionHandler, ConnectAttempt {
        private final InetSocketAddress address;

        Attempt(InetSocketAddress address) {
            this.address = address;
        }

        @Override
        public boolean isWanted(StreamConnection connection) {
            if (isDecided()) {
                return false;
            }
            winner = connection;
            open.remove(address);
            release();
            terms.connections.promote(connection);
            onWon.accept(connection);
            return true;
        }

        @Override
        public void onFailed(@Nullable IOException cause) {
            open.remove(address);
            failures.add(address, cause);
            proceed();
        }

        @Override
        public InetSocketAddress target() {
            return target.address();
        }

        @Override
        public ConnectionHandler handler() {
            return handler;
        }

        @Override
        public void onAccepted(StreamConnection connection) {
            made.complete(connection);
        }

        @Override
        public void onRefused(Throwable thrown) {
            made.completeExceptionally(thrown);
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            throw new IllegalStateException(connection + " does not stand yet");
        }
    }

    // ---- The end ----

    /** There is a winner, or will be no connection. */
    private boolean isDecided() {
        return winner != null || made.isDone();
    }

    /** Where callbacks run, since what waits for the future may do what callbacks do. */
    private void fail(Throwable why) {
        SerialExecutor elsewhere = terms.callbacks.serial(0, null);
        if (elsewhere == null) {
            made.completeExceptionally(why);
        } else {
            elsewhere.execute(() -> made.completeExceptionally(why));
        }
    }

    /** Not where callbacks run: one that does not return must not put the deadline off. */
    private void timeUp(boolean fired) {
        deadline = null;
        if (fired) {
            made.completeExceptionally(failures.timeout(terms.connectNanos, lookup != null, open.keySet(), untried));
        } else if (!isDecided()) {
            made.completeExceptionally(new IllegalStateException("cannot connect to " + target.name()
                    + ": the event manager has ended; connect on one that is open"));
        }
    }

    private void endOnLoop(boolean failed) {
        if (loop.inLoop()) {
            end(failed);
            return;
        }
        try {
            loop.execute(() -> end(failed));
        } catch (RejectedExecutionException e) {
            terms.connections.exit(this); // The loop has ended, and everything on it.
        }
    }

    private void end(boolean failed) {
        release();
        StreamConnection stands = winner;
        if (failed && stands != null) {
            stands.abort();
        }
        terms.connections.exit(this);
    }

    /** Nothing but the winner is left. */
    private void release() {
        cancel(deadline);
        cancel(nextAttempt);
        nextAttempt = null;
        Resolver.Lookup unanswered = lookup;
        if (unanswered != null) {
            lookup = null;
            unanswered.close();
        }
        untried.clear();
        open.values().forEach(StreamConnection::abort);
        open.clear();
    }

    private void cancel(@Nullable AlarmKey alarm) {
        if (alarm != null) {
            loop.cancel(alarm);
        }
    }

    @Override
    public String toString() {
        return "attempt to connect to " + target.name() + " on " + loop;
    }
}
