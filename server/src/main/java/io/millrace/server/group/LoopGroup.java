package io.millrace.server.group;

import io.millrace.engine.CompletionEventManager;
import io.millrace.engine.EventLoop;
import io.millrace.engine.EventManager;
import io.millrace.engine.GlobalEventManager;
import io.millrace.engine.Reactors;
import io.millrace.engine.ReadinessEventManager;
import io.millrace.engine.internal.Deadline;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.engine.transport.TransportAccess;
import io.millrace.engine.vthread.CarriedThread;
import io.millrace.engine.vthread.ThreadCarrier;
import io.millrace.poll.Clock;
import io.millrace.server.Connection;
import io.millrace.server.connection.StreamConnection;
import io.millrace.server.loop.CompletionManagerLoop;
import io.millrace.server.loop.ManagerServerLoop;
import io.millrace.server.loop.ReadinessManagerLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The loops on which a server or client runs. They belong to a manager or event loop passed by the user, to the server
 * itself, or to the global manager.
 */
public final class LoopGroup {
    private final List<? extends ServerLoop> loops;
    private final Clock clock;
    private final @Nullable Reactors own;
    private final @Nullable EventLoop eventLoop;
    private final AtomicInteger next = new AtomicInteger();
    /** Loops of others on the same manager, if it is not ours, that carry connections of ours. Guarded by itself. */
    private final List<ManagerServerLoop> adopted = new ArrayList<>();
    /** Guarded by {@link #adopted}. */
    private boolean ended;

    private LoopGroup(
            List<? extends ServerLoop> loops, Clock clock, @Nullable Reactors own, @Nullable EventLoop eventLoop) {
        this.loops = loops;
        this.clock = clock;
        this.own = own;
        this.eventLoop = eventLoop;
    }

    /** Returns the loops of the user's event loop. */
    public static LoopGroup of(EventLoop loop) {
        TransportAccess access = TransportAccess.get();
        return new LoopGroup(access.loops(loop), access.clock(loop), null, loop);
    }

    /** Returns the loops of the user's manager. */
    public static LoopGroup of(EventManager manager) {
        List<? extends ServerLoop> loops = loopsOf(manager);
        if (!loops.isEmpty()) {
            return new LoopGroup(loops, manager.clock(), null, null);
        }
        if (manager instanceof ReadinessEventManager readiness) {
            return new LoopGroup(List.of(new ReadinessManagerLoop(readiness)), manager.clock(), null, null);
        }
        if (manager instanceof CompletionEventManager completion) {
            return new LoopGroup(List.of(new CompletionManagerLoop(completion)), manager.clock(), null, null);
        }
        throw new IllegalArgumentException(
                "cannot run on " + manager
                        + ": it has no descriptors; pass a manager that implements ReadinessEventManager or CompletionEventManager, or none");
    }

    private static List<? extends ServerLoop> loopsOf(EventManager manager) {
        return manager instanceof Reactors ? TransportAccess.get().loops(manager) : List.of();
    }

    /** Returns the loops of a manager that ends with the server. */
    public static LoopGroup owned(Reactors manager) {
        return new LoopGroup(TransportAccess.get().loops(manager), manager.clock(), manager, null);
    }

    public static LoopGroup global() {
        return of(GlobalEventManager.global());
    }

    public List<? extends ServerLoop> all() {
        return loops;
    }

    public ServerLoop first() {
        return loops.getFirst();
    }

    public ServerLoop next() {
        return loops.size() == 1 ? loops.getFirst() : loops.get(Math.floorMod(next.getAndIncrement(), loops.size()));
    }

    /** The one that the calling thread is on, or else the next. */
    public ServerLoop here() {
        for (ServerLoop loop : loops) {
            if (loop.inLoop() || carriesThis(loop)) {
                return loop;
            }
        }
        ManagerServerLoop foreign = ManagerServerLoop.current();
        return foreign != null && adopts(foreign) ? foreign : next();
    }

    /** Returns whether the calling thread is a virtual one that runs on a loop's thread now. */
    private static boolean carriesThis(ServerLoop loop) {
        ThreadCarrier carrier = loop.carrier();
        CarriedThread thread = carrier == null ? null : carrier.carried();
        return thread != null && thread.isCurrent();
    }

    /** The one that a connection of this or another server or client is on. */
    @SuppressWarnings("ReferenceEquality") // a loop is itself
    public ServerLoop near(Connection connection) {
        if (connection instanceof StreamConnection stream) {
            ServerLoop wanted = stream.loop();
            if (loops.stream().anyMatch(loop -> loop == wanted)) {
                return wanted;
            }
            if (wanted instanceof ManagerServerLoop foreign && sharesManager(foreign)) {
                return adopts(foreign) ? foreign : next(); // if its server is closed, so is the connection
            }
        }
        throw new IllegalArgumentException(
                "cannot connect near " + connection
                        + ": it is not on a loop of this client's manager; open the client with the manager of that connection's server or client");
    }

    /** Returns whether {@link #near} has a loop for a connection. */
    @SuppressWarnings("ReferenceEquality") // a loop is itself
    public boolean canBeNear(Connection connection) {
        return connection instanceof StreamConnection stream
                && (loops.stream().anyMatch(loop -> loop == stream.loop())
                        || (stream.loop() instanceof ManagerServerLoop foreign && sharesManager(foreign)));
    }

    private boolean sharesManager(ManagerServerLoop foreign) {
        return loops.getFirst() instanceof ManagerServerLoop own && own.sharesManager(foreign);
    }

    /** Servers and clients on a manager that is not ours have a loop each. This one stays until we have ended, too. */
    private boolean adopts(ManagerServerLoop foreign) {
        if (!sharesManager(foreign)) {
            return false;
        }
        synchronized (adopted) {
            if (adopted.contains(foreign)) {
                return true;
            }
            if (ended || !foreign.tryRetain()) {
                return false;
            }
            adopted.add(foreign);
            return true;
        }
    }

    public boolean isOnOne() {
        if (loops.stream().anyMatch(ServerLoop::inLoop)) {
            return true;
        }
        synchronized (adopted) {
            return adopted.stream().anyMatch(ServerLoop::inLoop);
        }
    }

    /** Waits for something that happens on these loops. Returns whether it has. */
    public boolean await(Deadline deadline, CompletableFuture<?> done) {
        return eventLoop == null ? deadline.await(done) : TransportAccess.get().await(eventLoop, done, deadline);
    }

    /** Ends the loops that belong to this group, by the deadline. Returns what has not ended. */
    public List<String> endBy(Deadline deadline) {
        synchronized (adopted) {
            if (!ended) {
                ended = true;
                adopted.forEach(ManagerServerLoop::release);
                if (loops.getFirst() instanceof ManagerServerLoop foreign) {
                    foreign.release();
                }
            }
        }
        return own == null ? List.of() : own.shutdown(Duration.ofNanos(deadline.leftNanos()));
    }

    /** Returns whether the loops that belong to this group have ended. */
    boolean haveEnded() {
        return own == null || own.isTerminated();
    }

    public Clock clock() {
        return clock;
    }
}
