package io.millrace.engine.transport;

import io.millrace.engine.EventLoop;
import io.millrace.engine.EventManager;
import io.millrace.engine.Reactors;
import io.millrace.engine.internal.Deadline;
import io.millrace.poll.Clock;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Leads from a manager or an event loop to its loops as servers see them. It is implemented in their package, which
 * sets it here, so that none of it is public there.
 */
public abstract class TransportAccess {
    private static volatile @Nullable TransportAccess instance;

    /** For the only implementation. */
    protected TransportAccess() {}

    /**
     * Returns the implementation.
     *
     * @return available once {@link Reactors} or {@link EventLoop} has been initialized
     */
    public static TransportAccess get() {
        return Objects.requireNonNull(instance, "open Reactors or an EventLoop first");
    }

    /**
     * Sets the implementation. Called by those classes when they are initialized.
     *
     * @param access the implementation
     */
    public static void set(TransportAccess access) {
        instance = access;
    }

    /**
     * Returns the loops of a manager.
     *
     * @param manager any manager
     * @return empty if it is not {@link Reactors}
     */
    public abstract List<? extends ServerLoop> loops(EventManager manager);

    /**
     * Returns the loops of an event loop: its reactors.
     *
     * @param loop any event loop
     * @return always the same ones
     */
    public abstract List<? extends ServerLoop> loops(EventLoop loop);

    /**
     * Returns the clock of an event loop.
     *
     * @param loop any event loop
     * @return the clock with which it was opened
     */
    public abstract Clock clock(EventLoop loop);

    /**
     * Waits for something for which an event loop has to run. If the calling thread was the last to run the loop and
     * none is running it now, the loop would stand still meanwhile; then the calling thread runs it.
     *
     * @param loop any event loop
     * @param done completes on the loop, or elsewhere
     * @param deadline until when to wait
     * @return whether it is done
     */
    public abstract boolean await(EventLoop loop, CompletableFuture<?> done, Deadline deadline);
}
