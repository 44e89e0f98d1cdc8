package io.millrace.engine;

import io.millrace.engine.internal.Deadline;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.engine.transport.TransportAccess;
import io.millrace.poll.Clock;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Gives servers access to the reactors of {@link Reactors} and {@link EventLoop}. */
final class LoopAccess extends TransportAccess {
    private static final LoopAccess INSTANCE = new LoopAccess();

    private LoopAccess() {}

    /** Called by both classes when they are initialized. */
    static void handOver() {
        set(INSTANCE);
    }

    @Override
    public List<? extends ServerLoop> loops(EventManager manager) {
        return manager instanceof Reactors ours ? ours.loops() : List.of();
    }

    @Override
    public List<? extends ServerLoop> loops(EventLoop loop) {
        return loop.serverLoops();
    }

    @Override
    public Clock clock(EventLoop loop) {
        return loop.clock();
    }

    @Override
    public boolean await(EventLoop loop, CompletableFuture<?> done, Deadline deadline) {
        loop.runFor(done, deadline);
        return deadline.await(done);
    }
}
