package io.millrace.server;

import io.millrace.engine.EventManager;
import io.millrace.engine.GlobalEventManager;
import io.millrace.engine.Reactors;
import io.millrace.engine.ReadinessEventManager;
import io.millrace.engine.internal.Deadline;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.engine.transport.TransportAccess;
import io.millrace.poll.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The loops that a server or client runs on: of a manager that it was given, of one of its own, or of the global one. */
final class LoopGroup {
    private final List<? extends ServerLoop> loops;
    private final Clock clock;
    private final @Nullable Reactors own;
    private final AtomicInteger next = new AtomicInteger();

    private LoopGroup(List<? extends ServerLoop> loops, Clock clock, @Nullable Reactors own) {
        this.loops = loops;
        this.clock = clock;
        this.own = own;
    }

    /** Of a manager of the user's. */
    static LoopGroup of(EventManager manager) {
        List<? extends ServerLoop> loops = loopsOf(manager);
        if (!loops.isEmpty()) {
            return new LoopGroup(loops, manager.clock(), null);
        }
        if (manager instanceof ReadinessEventManager readiness) {
            return new LoopGroup(List.of(new ManagerServerLoop(readiness)), manager.clock(), null);
        }
        throw new IllegalArgumentException("cannot run on " + manager
                + ": it has no descriptors; pass a manager that implements ReadinessEventManager, or none");
    }

    private static List<? extends ServerLoop> loopsOf(EventManager manager) {
        return manager instanceof Reactors ? TransportAccess.get().loops(manager) : List.of();
    }

    /** Of a manager that ends with the server. */
    static LoopGroup owned(Reactors manager) {
        return new LoopGroup(TransportAccess.get().loops(manager), manager.clock(), manager);
    }

    static LoopGroup global() {
        return of(GlobalEventManager.global());
    }

    List<? extends ServerLoop> all() {
        return loops;
    }

    ServerLoop first() {
        return loops.getFirst();
    }

    ServerLoop next() {
        return loops.size() == 1 ? loops.getFirst() : loops.get(Math.floorMod(next.getAndIncrement(), loops.size()));
    }

    boolean isOnOne() {
        return loops.stream().anyMatch(ServerLoop::inLoop);
    }

    /** Ends those of its own, by the deadline. Returns what has not ended. */
    List<String> endBy(Deadline deadline) {
        for (ServerLoop loop : loops) {
            if (loop instanceof ManagerServerLoop foreign) {
                foreign.release();
            }
        }
        return own == null ? List.of() : own.shutdown(Duration.ofNanos(deadline.leftNanos()));
    }

    /** Whether those of its own have ended. */
    boolean haveEnded() {
        return own == null || own.isTerminated();
    }

    Clock clock() {
        return clock;
    }
}
