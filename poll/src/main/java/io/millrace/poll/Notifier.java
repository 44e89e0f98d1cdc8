package io.millrace.poll;

import io.millrace.poll.internal.CloseObserver;
import io.millrace.poll.internal.Durations;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.selector.SingleWait;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * An event queue for one thread, together with its handlers for sources: the notifier of Tcl's TIP 458.
 *
 * <p>The owning thread calls {@link #doOneEvent} in a loop. Each call runs one event from the queue, or waits for one.
 * When a source becomes ready, its handler is queued as an event at the tail. Another thread may queue an event and
 * {@link #alert} the owner; the event then runs on the owner's thread, never on the thread that queued it.
 *
 * {@snippet :
 * Notifier notifier = Notifier.current();
 * notifier.setHandler(listener, Interest.READABLE, readiness -> accept(listener));
 * while (!done) {
 *   notifier.doOneEvent(null);
 * }
 * }
 *
 * <p><b>Threads.</b> Only the owner may call {@link #doOneEvent} and {@link #serviceOne}. Any thread may call
 * everything else, even while the owner waits. Handlers and events run without a lock.
 *
 * <p><b>Closed sources.</b> When a source is closed, it loses its handler: the handler is not called again, not even
 * for an event that is already queued, and it is not kept.
 *
 * <p><b>No thread, and no descriptor before it is needed.</b> The owner waits in the kernel itself. The poll is opened
 * by the first wait, so a thread that only queues and runs events opens nothing.
 *
 * <h2>Portability</h2>
 * The same as {@link Poll}.
 */
public final class Notifier implements AutoCloseable {
    /** Where an event goes into the queue. */
    public enum Position {
        /** Before all others: last in, first out. */
        HEAD,
        /** After all others: first in, first out. */
        TAIL,
        /** After earlier marks, before everything that was at the tail. */
        MARK
    }

    /** An event in the queue. */
    @FunctionalInterface
    public interface Task {
        /**
         * Runs on the thread that owns the notifier.
         *
         * @return true if it is done; false leaves it queued, and the next one is tried
         */
        boolean run();
    }

    /** What to do when a source is ready. */
    @FunctionalInterface
    public interface SourceHandler {
        /**
         * Runs on the thread that owns the notifier.
         *
         * @param readiness what the source is ready for, within the handler's interest
         */
        void ready(Readiness readiness);
    }

    private static final ThreadLocal<Notifier> CURRENT = new ThreadLocal<>();
    private static final int EVENTS = 128;
    private static final int FEW = 64;

    private final Thread owner = Thread.currentThread();
    private final EventQueue queue = new EventQueue();
    private final Events events = Events.withCapacity(EVENTS);

    /** Guards the handlers, the poll's opening, and closing. Not held while the kernel waits or user code runs. */
    private final Object lock = new Object();

    private final IdentityHashMap<Source, Registered> handlers = new IdentityHashMap<>();
    private final List<@Nullable Registered> byToken = new ArrayList<>();
    private final ArrayDeque<Integer> freeTokens = new ArrayDeque<>();
    private final Poll.Builder settings;
    private int lookAgainAt = FEW;
    private @Nullable Poll poll;
    private boolean alerted;
    private volatile boolean closed;

    private Notifier(Poll.Builder settings) {
        this.settings = settings;
    }

    /**
     * Returns the calling thread's notifier. It is created by the first call, and again after it was closed.
     *
     * @return one per thread
     */
    public static Notifier current() {
        Notifier present = CURRENT.get();
        if (present == null || present.closed) {
            present = new Notifier(Poll.builder());
            CURRENT.set(present);
        }
        return present;
    }

    /**
     * Creates the calling thread's notifier on a poll of your choice, for example with another backend or clock. From
     * now on it is {@link #current()}.
     *
     * @param settings used to open the poll when it is needed; must not be changed afterwards
     * @return the calling thread's notifier
     * @throws IllegalStateException if the thread already has an open one
     */
    public static Notifier open(Poll.Builder settings) {
        Objects.requireNonNull(settings, "settings");
        Notifier present = CURRENT.get();
        if (present != null && !present.closed) {
            throw new IllegalStateException("cannot open a notifier: " + Thread.currentThread()
                    + " has one; close Notifier.current() first, or use it");
        }
        Notifier opened = new Notifier(settings);
        CURRENT.set(opened);
        return opened;
    }

    // ---- Handlers: any thread ----

    /**
     * Sets the handler of a source. If the source already has one, replaces interest and handler.
     *
     * <p>The poll is opened by the first wait and learns of the source only then. If it refuses the source, because the
     * source is closed or belongs to the other family, that wait throws, and the source loses its
     * handler. The others keep theirs.
     *
     * @param source what to wait for
     * @param interest when to call the handler; it is called again for as long as the source is ready
     * @param handler what to call
     * @throws IllegalStateException if the notifier or the source is closed, or the source is registered elsewhere
     * @throws IllegalArgumentException if the poll cannot watch such a source, for example a descriptor on the {@code
     *     nio} backend
     */
    public void setHandler(Source source, Interest interest, SourceHandler handler) {
        Objects.requireNonNull(source, "source");
        Objects.requireNonNull(interest, "interest");
        Objects.requireNonNull(handler, "handler");
        synchronized (lock) {
            requireOpen("set a handler");
            if (poll == null) {
                forgetClosed();
            }
            Registered before = handlers.get(source);
            int token = before == null ? nextToken() : before.token;
            if (poll != null) {
                if (before == null) {
                    poll.register(source, token, interest, Trigger.LEVEL, new Watched(this, source));
                } else {
                    poll.reregister(source, token, interest, Trigger.LEVEL);
                }
            }
            if (before == null) {
                takeToken(token);
            }
            Registered registered = new Registered(this, source, interest, handler, token);
            if (before != null) {
                before.deleted = true;
            }
            handlers.put(source, registered);
            byToken.set(token, registered);
        }
    }

    /**
     * Removes the handler of a source. It is not called again, not even for an event that is already queued. Does
     * nothing if the source has no handler.
     *
     * @param source the source
     */
    public void deleteHandler(Source source) {
        synchronized (lock) {
            Registered registered = handlers.remove(source);
            if (registered == null) {
                return;
            }
            drop(registered);
            if (poll != null && !closed) {
                deregister(poll, registered);
            }
            if (!registered.isQueued()) {
                return;
            }
        }
        queue.delete(task -> task instanceof Registered gone && gone.deleted);
    }

    /** Removes the handler of a closed source; it is not called again (end-7). */
    private void forgetClosedSource(Source source) {
        synchronized (lock) {
            Registered registered = handlers.remove(source);
            if (registered == null) {
                return;
            }
            drop(registered);
            if (!registered.isQueued()) {
                return;
            }
        }
        queue.delete(task -> task instanceof Registered gone && gone.deleted);
    }

    /**
     * Before there is a poll, a close is not reported. So this goes through all handlers whenever their number has
     * doubled.
     */
    private void forgetClosed() {
        if (handlers.size() < lookAgainAt) {
            return;
        }
        for (Registered registered : List.copyOf(handlers.values())) {
            if (isClosed(registered.source)) {
                handlers.remove(registered.source);
                drop(registered);
            }
        }
        lookAgainAt = Math.max(FEW, 2 * handlers.size());
    }

    private static boolean isClosed(Source source) {
        return switch (source.handle()) {
            case KernelHandle os -> os.isClosed();
            case Registration registration -> registration.node.isClosed();
        };
    }

    /** Does nothing if the source is closed, perhaps at this moment, because that deregisters it. */
    private static void deregister(Poll from, Registered registered) {
        if (registered.isGone()) {
            return;
        }
        try {
            from.deregister(registered.source);
        } catch (IllegalStateException e) {
            if (!registered.isGone()) {
                throw e;
            }
        }
    }

    private void drop(Registered registered) {
        registered.deleted = true;
        byToken.set(registered.token, null);
        freeTokens.push(registered.token);
    }

    /** Returns how many tokens there are, in use or free. */
    int tokens() {
        synchronized (lock) {
            return byToken.size();
        }
    }

    private int nextToken() {
        Integer free = freeTokens.peek();
        return free == null ? byToken.size() : free;
    }

    private void takeToken(int token) {
        if (token == byToken.size()) {
            byToken.add(null);
        } else {
            freeTokens.pop();
        }
    }

    // ---- The queue: any thread ----

    /**
     * Queues an event, which runs on the owner's thread. This does not end a wait; {@link #alert} does.
     *
     * @param task the event
     * @param position where to put it
     * @throws IllegalStateException if the notifier is closed; the event is not queued
     */
    public void queue(Task task, Position position) {
        Objects.requireNonNull(task, "task");
        Objects.requireNonNull(position, "position");
        if (!queue.add(task, position)) {
            requireOpen("queue an event");
        }
    }

    /** Ends the owner's wait, or its next one if it is not waiting now. Several alerts before that count as one. */
    public void alert() {
        synchronized (lock) {
            alerted = true;
            if (poll != null && !closed) {
                poll.wake();
            }
        }
    }

    /**
     * Deletes queued events.
     *
     * @param which returns true for the events to delete; called in queue order, without a lock
     * @return how many were deleted
     */
    public int deleteEvents(Predicate<Task> which) {
        Objects.requireNonNull(which, "which");
        return queue.delete(task -> !(task instanceof Registered) && which.test(task));
    }

    // ---- The owner ----

    /**
     * Runs one event: the first that can run if there is one in the queue, otherwise the next that arrives.
     *
     * @param timeout the longest time to wait; null waits for ever, zero does not wait
     * @return true if an event ran; false if the timeout has passed, or after an {@link #alert}
     * @throws IllegalStateException if another thread calls it, or if the notifier is closed, even during the wait
     * @throws RuntimeException whatever a handler or an event threw; at the first wait, also the poll's refusal of a
     *     source (see {@link #setHandler})
     */
    public boolean doOneEvent(@Nullable Duration timeout) {
        requireOwner();
        if (serviceOne()) {
            return true;
        }
        Poll waiting = openPoll();
        boolean wasAlerted;
        synchronized (lock) {
            wasAlerted = alerted;
            alerted = false;
        }
        waiting.poll(events, wasAlerted ? Duration.ZERO : timeout);
        synchronized (lock) {
            alerted = false;
            while (events.advance()) {
                // A notifier that was closed meanwhile has no handlers left.
                Registered registered = closed ? null : byToken.get((int) events.token());
                if (registered != null) {
                    registered.mergeAndQueue(events.readiness(), queue);
                }
            }
        }
        return serviceOne();
    }

    /**
     * Runs one event from the queue, without waiting.
     *
     * @return false if there was none that could run
     */
    public boolean serviceOne() {
        requireOwner();
        requireOpen("run an event");
        return queue.serviceOne();
    }

    private Poll openPoll() {
        synchronized (lock) {
            requireOpen("wait");
            Poll present = poll;
            if (present == null) {
                present = settings.open();
                // Even if a source is refused: a software source that has been in this poll cannot be in another.
                poll = present;
                registerAll(present);
            }
            return present;
        }
    }

    /**
     * Registers all sources. One that is refused loses its handler, the others are registered nevertheless, and then
     * the refusal is thrown.
     */
    private void registerAll(Poll with) {
        Throwable refusal = null;
        for (Registered registered : List.copyOf(handlers.values())) {
            try {
                with.register(
                        registered.source,
                        registered.token,
                        registered.interest,
                        Trigger.LEVEL,
                        new Watched(this, registered.source));
            } catch (RuntimeException | Error e) {
                handlers.remove(registered.source);
                drop(registered);
                if (refusal == null) {
                    refusal = e;
                } else {
                    refusal.addSuppressed(e);
                }
            }
        }
        switch (refusal) {
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case null, default -> {
                // All are registered.
            }
        }
    }

    /**
     * Waits for a single source and nothing else. No handler and no event runs, timers that are due stay pending, and
     * the notifier's poll is not used. It works with any number of open descriptors. If another thread closes the
     * source, the wait ends.
     *
     * @param source a source that the kernel watches
     * @param interest what to wait for
     * @param timeout the longest time to wait; null waits for ever, zero does not wait
     * @return what it is ready for; {@link Readiness#NONE} if the timeout has passed
     * @throws IllegalArgumentException if it is a software source
     * @throws IllegalStateException if a virtual thread asks to wait
     * @throws UncheckedIOException if the source is closed, before or during the wait, or the system refuses
     */
    public static Readiness waitFor(Source source, Interest interest, @Nullable Duration timeout) {
        if (!(source.handle() instanceof KernelHandle handle)) {
            throw new IllegalArgumentException(
                    "cannot wait for " + source + " alone: it is a source in software; register it with a Poll");
        }
        long nanos = timeout == null ? -1 : Durations.toNanos(timeout);
        if (timeout != null && nanos < 0) {
            throw new IllegalArgumentException("a timeout is not negative: " + timeout + "; null waits for ever");
        }
        if (nanos != 0 && Thread.currentThread().isVirtual()) {
            throw new IllegalStateException("a virtual thread must not wait for a source: it would hold its carrier;"
                    + " use timeout zero, or a platform thread");
        }
        try {
            long deadline = System.nanoTime() + nanos;
            for (; ; ) {
                int ready = SingleWait.await(handle.system(), interest.bits(), nanos);
                if (ready != 0 || nanos == 0) {
                    return Readiness.of(ready);
                }
                if (nanos > 0) {
                    // A signal may have ended the wait early.
                    nanos = Math.max(0, deadline - System.nanoTime());
                    if (nanos == 0) {
                        return Readiness.NONE;
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot wait for " + source, e);
        }
    }

    private void requireOwner() {
        if (!owner.equals(Thread.currentThread())) {
            throw new IllegalStateException("this notifier belongs to " + owner + "; use Notifier.current()");
        }
    }

    private void requireOpen(String doing) {
        if (closed) {
            throw new IllegalStateException("cannot " + doing + ": the notifier is closed");
        }
    }

    /**
     * Closes the poll and drops all handlers and queued events. The sources stay open. Idempotent; any thread may call
     * it.
     */
    @Override
    public void close() {
        @Nullable Poll open;
        synchronized (lock) {
            closed = true;
            queue.close();
            handlers.clear();
            byToken.clear();
            freeTokens.clear();
            open = poll;
            poll = null;
        }
        if (open != null) {
            open.close();
        }
    }

    @Override
    public String toString() {
        return "notifier of " + owner.getName() + ", " + queue.size() + " events queued" + (closed ? ", closed" : "");
    }

    /** The sink of a source. It does not refer to the handler, which may be replaced. */
    private record Watched(Notifier notifier, Source source) implements CloseObserver {
        @Override
        public void onSourceClosed() {
            notifier.forgetClosedSource(source);
        }
    }

    /**
     * A handler that is also its own event in the queue. There is at most one such event, so readiness that comes
     * meanwhile is merged.
     */
    private static final class Registered implements Task {
        final Notifier notifier;
        final Source source;
        final Interest interest;
        final SourceHandler handler;
        final int token;
        volatile boolean deleted;
        /** Readiness that was found but not handled yet. Guarded by the notifier's lock. */
        private Readiness found = Readiness.NONE;

        Registered(Notifier notifier, Source source, Interest interest, SourceHandler handler, int token) {
            this.notifier = notifier;
            this.source = source;
            this.interest = interest;
            this.handler = handler;
            this.token = token;
        }

        /** Returns whether the source was closed, which deregistered it. */
        boolean isGone() {
            return switch (source.handle()) {
                case KernelHandle os -> os.attachment() == null;
                case Registration registration -> registration.node.terms == null;
            };
        }

        /** Called under the notifier's lock. */
        boolean isQueued() {
            return found.bits() != 0;
        }

        void mergeAndQueue(Readiness readiness, EventQueue queue) {
            boolean queued = isQueued();
            found = found.and(readiness);
            if (!queued) {
                queue.add(this, Position.TAIL);
            }
        }

        @Override
        public boolean run() {
            Readiness readiness;
            synchronized (notifier.lock) {
                readiness = found;
                found = Readiness.NONE;
            }
            if (!deleted && !isClosed(source)) {
                handler.ready(readiness);
            }
            return true;
        }
    }
}
