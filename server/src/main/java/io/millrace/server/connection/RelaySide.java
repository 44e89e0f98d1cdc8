package io.millrace.server.connection;

import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.Idle;
import io.millrace.server.Relay;
import io.millrace.server.SendResult;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * One of the two connections of a {@link Relay}, and the direction that begins there: what it receives goes to the other side. It stands in for the connection's handler, which still hears of what is
 * not the relay's: failures, silence, the end.
 *
 * <p>Everything here belongs to the callbacks of this side's connection, except what the {@link PauseHandshake} says.
 *
 * <h2>Before the other side is there</h2>
 *
 * The connection is paused, and what was read already is kept. If the other connection has ended by the time that this side looks for it, there is no callback left in which it could say so; so whoever joins them finds that out, by a task that
 * is refused.
 */
public final class RelaySide extends PauseHandshake implements ConnectionHandler {
    private final StreamConnection here;
    private @Nullable ConnectionHandler before;
    private @Nullable RelaySide other;
    /** What came before there was another side. */
    private List<ByteBuffer> early = new ArrayList<>(0);

    public RelaySide(Connection connection) {
        this.here = (StreamConnection) Objects.requireNonNull(connection, "connection");
    }

    public StreamConnection connection() {
        return here;
    }

    // ---- Joining ----

    /** Any thread: nothing that comes from now on is lost. In a callback of the connection that is from here on, also if more comes in the same read. */
    public void hold() {
        if (here.isInCallback()) {
            takeOver();
        } else {
            try {
                here.execute(this::takeOver);
            } catch (RejectedExecutionException e) {
                // It has ended, which is found out when it is joined.
            }
        }
    }

    /**
     * Any thread: from now on each is the other's. A connection has one relay, for good; so both are taken for this one before either begins, or a
     * mistake would send bytes into a relay that exists, and end it.
     *
     * @throws IllegalStateException if this is called in a callback of one that has a relay; then nothing has changed
     */
    public static void join(RelaySide one, RelaySide other) {
        boolean mine = one.here.tryRelay();
        boolean its = other.here.tryRelay();
        if (mine && its) {
            one.join(other);
            other.join(one);
            return;
        }
        if (mine) {
            one.here.relayNoMore();
        }
        if (its) {
            other.here.relayNoMore();
        }
        List<RelaySide> refused = mine ? List.of(other) : its ? List.of(one) : List.of(one, other);
        for (RelaySide side : refused) {
            if (side.here.isInCallback()) {
                throw side.alreadyRelayed();
            }
        }
        for (RelaySide side : refused) {
            side.refuse(mine ? one : its ? other : null);
        }
    }

    /** Tells this side's handler, and ends the one that has no relay, because nobody else knows that it will have none. */
    private void refuse(@Nullable RelaySide left) {
        boolean ended = false;
        try {
            here.execute(() -> {
                throw alreadyRelayed();
            });
        } catch (RejectedExecutionException e) {
            ended = true;
        }
        if (left != null && ended) {
            passEnd(left);
        } else if (left != null) {
            left.here.close();
        }
    }

    /** In a callback. */
    private IllegalStateException alreadyRelayed() {
        String to = here.handler instanceof RelaySide side && side.other != null ? ", to " + side.other.here : "";
        return new IllegalStateException("cannot relay " + here + ": it is already relayed" + to);
    }

    private void join(RelaySide to) {
        if (here.isInCallback()) {
            begin(to);
        } else {
            try {
                here.execute(() -> begin(to));
            } catch (RejectedExecutionException e) {
                if (early.isEmpty()) {
                    passEnd(to);
                } else {
                    to.here.reset(); // nobody is left to pass it on
                }
            }
        }
    }

    private void takeOver() {
        if (before != null) {
            return; // the other side was faster, on another thread
        }
        ConnectionHandler present = here.replaceHandler(this);
        if (present instanceof RelaySide waits) {
            if (waits.other != null) {
                here.replaceHandler(present);
                throw alreadyRelayed();
            }
            early = waits.early; // for another that did not come
        }
        before = present;
        here.setFraming(Framing.none());
        here.setPausedByRelay(true);
    }

    private void begin(RelaySide to) {
        takeOver();
        other = to;
        here.beginRelay();
        for (ByteBuffer data : early) {
            pass(data, to);
        }
        early = List.of();
        if (here.isInputEndTold()) {
            to.here.closeOutput();
        }
        // What the other side has been told of this connection meanwhile, nobody here has heard.
        if (here.isWritable()) {
            to.resume();
        }
    }

    /** In a callback: the connection's own handler is known only now. */
    ConnectionHandler over(ConnectionHandler own) {
        before = own;
        return this;
    }

    private ConnectionHandler before() {
        return Objects.requireNonNull(before);
    }

    /** Loads what {@link #pass} will need, if that is on the same loop. On the loop; elsewhere callbacks may not have joined it yet, which does not matter. */
    @SuppressWarnings("ReferenceEquality") // a loop is itself
    int prefetchOther() {
        RelaySide to = other;
        return to == null || to.here.loop() != here.loop() ? 0 : to.here.prefetchForRelay();
    }

    // ---- The relay's ----

    @Override
    public void onData(Connection connection, ByteBuffer data) {
        RelaySide to = other;
        if (to == null) {
            early.add(WriteQueue.copy(data));
        } else {
            pass(data, to);
        }
    }

    private void pass(ByteBuffer data, RelaySide to) {
        SendResult result = to.here.forward(data);
        if (result == SendResult.ABOVE_HIGH_WATER) {
            pauseUntilWritable();
        }
    }

    @Override
    void setPaused(boolean paused) {
        here.setPausedByRelay(paused);
    }

    @Override
    boolean isOtherWritable() {
        RelaySide to = other;
        return to != null && to.here.isWritable();
    }

    @Override
    public void onWritable(Connection connection) {
        RelaySide to = other;
        if (to != null) {
            to.resume();
        }
    }

    @Override
    public void onEndOfInput(Connection connection) {
        RelaySide to = other;
        if (to != null) {
            to.here.closeOutput();
        }
    }

    /**
     * One that has ended well has given all it had, and so the other is closed when that is sent. If one breaks after its end of input, it has also given all it had, such as the answer to a request that it
     * did not want to the end: only what it did not take is lost. Otherwise the other must not take what it got for the whole.
     */
    private void passEnd(RelaySide to) {
        if (here.hasEndedBadly() && !here.isInputEndTold()) {
            to.here.reset();
        } else {
            to.here.close();
        }
    }

    // ---- The handler's ----

    @Override
    public void onConnect(Connection connection) throws Exception {
        before().onConnect(connection);
    }

    @Override
    public void onIdle(Connection connection, Idle kind) throws Exception {
        before().onIdle(connection, kind);
    }

    @Override
    public void onError(@Nullable Connection connection, Throwable failure) {
        before().onError(connection, failure);
    }

    @Override
    public void onDisconnect(Connection connection) throws Exception {
        try {
            before().onDisconnect(connection);
        } finally {
            RelaySide to = other;
            if (to != null) {
                passEnd(to);
            }
        }
    }

    @Override
    public String toString() {
        return "relay of " + here + (before == null ? "" : " for " + before);
    }
}
