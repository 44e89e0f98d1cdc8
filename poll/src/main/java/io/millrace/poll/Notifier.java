package io.millrace.poll;

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
 * A thread's own queue of events, and its handlers of sources: the notifier of Tcl's TIP 458.
 *
 * <p>A thread calls {@link #doOneEvent} again and again; each call runs one event of its queue, or waits for one. Sources that become ready put
 * their handler's event at the tail. Another thread may queue an event here and {@link #alert} this one: it runs on the thread that owns the
 * notifier, never on the one that queued it. Threads share nothing else.
 *
 * <p><b>No thread, no descriptor before it is needed.</b> The waiting thread asks the kernel itself. The poll is opened by the first wait; a thread that
 * only queues and runs events opens nothing.
 *
 * <p><b>Closed sources.</b> A source that is closed loses its handler: it is not called any more, not even for an event that is queued
 * already, and not kept.
 *
 * <p><b>Threads.</b> {@link #doOneEvent} and {@link #serviceOne}: the owner. Everything else: any thread, also while the owner waits. Handlers and
 * events run without a lock.
 *
 * <h2>Portability</h2>
 * As {@link Poll}.
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
     * The calling thread's notifier; made at the first call, and made anew after it was closed.
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
     * Makes the calling thread's notifier, over a poll of your choice: another backend, another clock. From now on it is {@link #current()}.
     *
     * @param settings opens the poll, when it is needed; not to be changed any more
     * @return a notifier, the calling thread's own
     * @throws IllegalStateException if the thread has one that is open
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
     * Sets the handler of a source; again for the same source: replaces interest and handler.
     *
     * <p>The poll is opened by the first wait, and does not know the source before. One that it refuses, because it is closed or of the
     * other family, is refused by that wait then: it throws, and that source has no handler any more. The others keep theirs.
     *
     * @param source what to wait for
     * @param interest when to call the handler; it is called again as long as the source is ready
     * @param handler what to call
     * @throws IllegalStateException if the notifier or the source is closed, or the source is registered elsewhere
     * @throws IllegalArgumentException if the poll takes no such source, e.g. a descriptor on the backend {@code nio}
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
     * Takes the handler of a source away. It is not called any more, not even for an event that is queued already. Nothing happens
     * if there is none.
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

    /** Its handler is not called any more, and forgotten (end-7). */
    private void sourceClosed(Source source) {
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

    /** Before there is a poll, nobody tells of a close: looks at all handlers whenever their number has doubled. */
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

    /** A source that its owner closes, maybe at this moment, is deregistered by that. */
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

    /** How many tokens there are, in use or free. */
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
     * Queues an event; it runs on the owner's thread. This alone does not end a wait: {@link #alert} does.
     *
     * @param task the event
     * @param position where it goes
     * @throws IllegalStateException if the notifier is closed; the event is not queued
     */
    public void queue(Task task, Position position) {
        Objects.requireNonNull(task, "task");
        Objects.requireNonNull(position, "position");
        if (!queue.add(task, position)) {
            requireOpen("queue an event");
        }
    }

    /** Ends the owner's wait, or its next one if it does not wait now. Several alerts before that count as one. */
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
     * @param which tells of each whether to delete it; called under no lock, in the order of the queue
     * @return how many were deleted
     */
    public int deleteEvents(Predicate<Task> which) {
        Objects.requireNonNull(which, "which");
        return queue.delete(task -> !(task instanceof Registered) && which.test(task));
    }

    // ---- The owner ----

    /**
     * Runs one event: of the queue if there is one, else it waits for one.
     *
     * @param timeout how long to wait at most: null for ever, zero not at all
     * @return true if an event ran; false if the time is over or after an {@link #alert}
     * @throws IllegalStateException if another thread calls it, or the notifier is closed, also while it waits
     * @throws RuntimeException what a handler or an event threw, or by the first wait, the poll's refusal of a source: see {@link #setHandler}
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
                    registered.found(events.readiness(), queue);
                }
            }
        }
        return serviceOne();
    }

    /**
     * Runs one event of the queue, without waiting.
     *
     * @return false if there is none that could run
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
                // Also if one is refused: a source in software that has been in this poll can be in no other.
                poll = present;
                registerAll(present);
            }
            return present;
        }
    }

    /** One that is refused loses its handler, and the others are registered all the same; then it is told. */
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
     * Waits for one source and nothing else: no handler and no event runs, timers that are due stay pending, and the notifier's poll is not
     * used. Any number of descriptors may be open. If another thread closes the source, the wait ends.
     *
     * @param source one that the kernel watches
     * @param interest what to wait for
     * @param timeout how long to wait at most: null for ever, zero not at all
     * @return what it is ready for; {@link Readiness#NONE} if the time is over
     * @throws IllegalArgumentException if the source is one in software
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

    /** Closes the poll and drops handlers and queued events; the sources stay open. Idempotent, from any thread. */
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

    /** What the poll knows of a source: not the handler, which may be replaced. */
    private record Watched(Notifier notifier, Source source) implements SourceOwner {
        @Override
        public void sourceClosed() {
            notifier.sourceClosed(source);
        }
    }

    /** A handler, and at the same time its event in the queue: at most one, so readiness that comes meanwhile is merged. */
    private static final class Registered implements Task {
        final Notifier notifier;
        final Source source;
        final Interest interest;
        final SourceHandler handler;
        final int token;
        volatile boolean deleted;
        /** Found and not handled yet; guarded by the notifier's lock. */
        private Readiness found = Readiness.NONE;

        Registered(Notifier notifier, Source source, Interest interest, SourceHandler handler, int token) {
            this.notifier = notifier;
            this.source = source;
            this.interest = interest;
            this.handler = handler;
            this.token = token;
        }

        /** The source was closed by its owner, which deregistered it. */
        boolean isGone() {
            return switch (source.handle()) {
                case KernelHandle os -> os.attachment() == null;
                case Registration registration -> registration.node.terms == null;
            };
        }

        /** Under the notifier's lock. */
        boolean isQueued() {
            return found.bits() != 0;
        }

        void found(Readiness readiness, EventQueue queue) {
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
