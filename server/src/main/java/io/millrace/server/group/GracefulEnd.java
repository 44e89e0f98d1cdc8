package io.millrace.server.group;

import io.millrace.engine.internal.Background;
import io.millrace.engine.internal.Deadline;
import io.millrace.engine.internal.FailureLog;
import io.millrace.server.ShutdownResult;
import io.millrace.server.TcpServer;
import io.millrace.server.connection.ConnectionDispatcher;
import io.millrace.server.connection.Conversing;
import io.millrace.server.connection.StreamConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The graceful end that servers and clients share, by one deadline:
 *
 * <ol>
 *   <li>Nothing more is let in, and every connection is closed after it has sent what it has; one with a conversation,
 *       when that has ended.
 *   <li>What is left at the deadline is aborted, and conversations are interrupted; that takes a moment, unless a handler does not return.
 *   <li>What is left then has such a handler. Its peer is cut off, it is named in the result, and it ends when the handler returns.
 * </ol>
 */
public final class GracefulEnd {
    /** Where connections come from. */
    public interface Intake {
        /**
         * Lets nothing more in.
         *
         * @return completes when everything that was let in is among the connections
         */
        CompletableFuture<Void> stop();

        /** The same at once, though a loop is held up. */
        void cutOff();
    }

    private final Object owner;
    private final LoopGroup loops;
    private final ConnectionDispatcher callbacks;
    private final Connections connections;
    private final Intake intake;
    private final AtomicBoolean closing = new AtomicBoolean();
    private final CompletableFuture<ShutdownResult> result = new CompletableFuture<>();
    /** What the result lists as remaining, by identity; empty if only loops remained. */
    private volatile Map<Object, String> remained = Map.of();

    /**
     * @param owner for messages
     */
    public GracefulEnd(
            Object owner, LoopGroup loops, ConnectionDispatcher callbacks, Connections connections, Intake intake) {
        this.owner = owner;
        this.loops = loops;
        this.callbacks = callbacks;
        this.connections = connections;
        this.intake = intake;
    }

    /** Returns whether it has begun. */
    public boolean hasBegun() {
        return closing.get();
    }

    /** For the text of its owner: nothing before it has begun. */
    public String state() {
        return result.isDone() ? ", closed" : closing.get() ? ", closing" : "";
    }

    /** See {@link TcpServer#shutdown}. */
    public ShutdownResult shutdown(Duration atMost) {
        Deadline deadline = Deadline.after(loops.clock(), atMost);
        boolean inside = loops.isOnOne()
                || callbacks.isInside()
                || connections.conversations().stream().anyMatch(Conversing::isCurrentThread);
        if (closing.compareAndSet(false, true)) {
            if (inside) {
                Background.run("millrace-shutdown", () -> end(deadline));
            } else {
                end(deadline);
            }
        } else if (!inside && !loops.await(deadline, result)) {
            connections.conversations().forEach(Conversing::cutShort);
            connections.connections().forEach(StreamConnection::abort);
            loops.await(deadline.andALittle(), result);
        }
        return known();
    }

    /** Returns the result as far as it is known. What has ended since then is no longer listed as remaining. */
    private ShutdownResult known() {
        if (!result.isDone()) {
            return new ShutdownResult(
                    false, List.of(), List.copyOf(connections.remaining().values()));
        }
        ShutdownResult how = result.join();
        Map<Object, String> unended = new LinkedHashMap<>(remained);
        unended.keySet().retainAll(connections.remaining().keySet());
        List<String> left = List.copyOf(unended.values());
        if (left.isEmpty() && !loops.haveEnded()) {
            left = remained.isEmpty() ? how.remaining() : List.of("the event loops of " + owner);
        }
        return new ShutdownResult(how.drained(), how.cutOff(), left);
    }

    private void end(Deadline deadline) {
        List<String> remaining = new ArrayList<>();
        boolean allEnded = false;
        try {
            connections.beginDraining();
            CompletableFuture<Void> stopping = intake.stop();
            // Right away, so that a blocked loop does not delay the others. What it accepts meanwhile is closed below.
            connections.connections().forEach(StreamConnection::closeGracefully);
            boolean stopped = loops.await(deadline, stopping);
            CompletableFuture<Void> ended = connections.closeAdmission();
            connections.connections().forEach(StreamConnection::closeGracefully);
            connections.abortUnsecured();
            allEnded = loops.await(deadline, ended);
            if (!allEnded) {
                for (Conversing conversation : connections.conversations()) {
                    connections.noteCutShort(conversation);
                    conversation.cutShort();
                }
                // Connections that have sent everything and only wait for their peers to close lose nothing here.
                connections.connections().forEach(StreamConnection::abort);
                allEnded = loops.await(deadline.andALittle(), ended);
            }
            if (!allEnded) {
                for (StreamConnection held : connections.connections()) {
                    connections.noteCutOff(held, held.queuedBytes());
                    held.cutOff();
                }
                remained = connections.remaining();
                remaining.addAll(remained.values());
            }
            if (!stopped) {
                intake.cutOff();
            }
        } catch (Throwable e) {
            FailureLog.report("the end of " + owner, e);
        } finally {
            closeWhenAllEnded(connections, callbacks);
            if (remaining.isEmpty()) {
                remaining.addAll(loops.endBy(deadline));
            } else {
                // The time is up, and a blocked loop ends when its handler returns.
                Background.run("millrace-shutdown", () -> loops.endBy(deadline));
            }
            List<String> cutOff = connections.cutOff();
            result.complete(new ShutdownResult(allEnded && cutOff.isEmpty(), cutOff, remaining));
        }
    }

    /**
     * Ends the threads for callbacks after the last callback. If a blocked loop delays a callback beyond the deadline,
     * the callback must still run on these threads, because it may block and other connections need the loop.
     */
    public static void closeWhenAllEnded(Connections connections, @Nullable ConnectionDispatcher threads) {
        var ignored = connections.closeAdmission().whenComplete((done, failure) -> {
            if (threads != null) {
                threads.close();
            }
        });
    }

    /** Within ten seconds; what is left then is logged. */
    public void close() {
        ShutdownResult how = shutdown(Deadline.OF_CLOSE);
        if (!how.remaining().isEmpty() && result.isDone()) {
            FailureLog.warn(
                    "closed " + owner + ", but this has not ended in time: " + String.join("; ", how.remaining()));
        }
    }
}
