package io.millrace.server;

import io.millrace.engine.EventManager;
import io.millrace.engine.EventManagers;
import io.millrace.engine.Reactors;
import io.millrace.engine.ReadinessEventManager;
import io.millrace.engine.internal.Deadline;
import io.millrace.engine.transport.TransportAccess;
import io.millrace.engine.transport.TransportLoop;
import io.millrace.poll.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The loops that a server or client runs on: of a manager that it was given, of one of its own, or of the global one. */
final class Loops {
    private final List<? extends TransportLoop> loops;
    private final Clock clock;
    private final @Nullable Reactors own;
    private final AtomicInteger next = new AtomicInteger();

    private Loops(List<? extends TransportLoop> loops, Clock clock, @Nullable Reactors own) {
        this.loops = loops;
        this.clock = clock;
        this.own = own;
    }

    /** Of a manager of the user's. */
    static Loops of(EventManager manager) {
        List<? extends TransportLoop> loops = loopsOf(manager);
        if (!loops.isEmpty()) {
            return new Loops(loops, manager.clock(), null);
        }
        if (manager instanceof ReadinessEventManager readiness) {
            return new Loops(List.of(new DescriptorLoop(readiness)), manager.clock(), null);
        }
        throw new IllegalArgumentException("cannot run on " + manager
                + ": it knows no descriptors; give one that implements ReadinessEventManager, or none");
    }

    private static List<? extends TransportLoop> loopsOf(EventManager manager) {
        return manager instanceof Reactors ? TransportAccess.get().loops(manager) : List.of();
    }

    /** Of a manager that ends with the server. */
    static Loops owned(Reactors manager) {
        return new Loops(TransportAccess.get().loops(manager), manager.clock(), manager);
    }

    static Loops global() {
        return of(EventManagers.global());
    }

    List<? extends TransportLoop> all() {
        return loops;
    }

    TransportLoop first() {
        return loops.getFirst();
    }

    TransportLoop next() {
        return loops.size() == 1 ? loops.getFirst() : loops.get(Math.floorMod(next.getAndIncrement(), loops.size()));
    }

    boolean isOnOne() {
        return loops.stream().anyMatch(TransportLoop::inLoop);
    }

    /** Ends those of its own, by the deadline. Returns what has not ended. */
    List<String> endBy(Deadline deadline) {
        for (TransportLoop loop : loops) {
            if (loop instanceof DescriptorLoop foreign) {
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
