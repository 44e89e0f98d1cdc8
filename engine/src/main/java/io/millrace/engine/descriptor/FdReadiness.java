package io.millrace.engine.descriptor;

import io.millrace.engine.NotifyOutcome;
import io.millrace.engine.Priority;
import io.millrace.engine.Reactors;
import io.millrace.engine.ReadinessDescriptor;
import io.millrace.engine.ReadinessEventManager;
import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.reactor.Alarm;
import io.millrace.engine.reactor.EventSink;
import io.millrace.engine.reactor.Reactor;
import io.millrace.poll.Interest;
import io.millrace.poll.Source;
import io.millrace.poll.Trigger;
import io.millrace.sys.Bits;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * The readiness descriptor of {@link Reactors}: three {@link ReadinessDirection}s over one source of a reactor's poll.
 *
 * <p>If the kernel supports edges, the source is registered once for both directions and never changed; readiness that
 * no callback waits for is kept in the direction. Otherwise nothing tells us when a raw descriptor was drained, and
 * input that is not read would be reported without end. There, the source is registered as a one-shot for the
 * directions that have a waiting callback, and armed again when a callback is added.
 */
public final class FdReadiness implements ReadinessDescriptor, EventSink {
    private static final Interest BOTH = Interest.READ_WRITE;

    public final Reactor reactor;
    private final ReadinessEventManager manager;
    private final DescriptorTable table;
    private final Source source;
    private final int fd;
    private final boolean oneShot;
    private final ReadinessDirection read = new ReadinessDirection("readable");
    private final ReadinessDirection write = new ReadinessDirection("writable");
    private final ReadinessDirection error = new ReadinessDirection("it has an error");
    private final AtomicBoolean closed = new AtomicBoolean();

    public FdReadiness(ReadinessEventManager manager, DescriptorTable table, Reactor reactor, Source source) {
        this.manager = manager;
        this.table = table;
        this.reactor = reactor;
        this.source = source;
        this.fd = BorrowedFdSource.numberOf(source);
        this.oneShot = reactor.emulatesTriggers();
    }

    public void register() {
        if (oneShot) {
            reactor.register(source, 0, this, Interest.NONE, Trigger.ONESHOT);
        } else {
            reactor.register(source, 0, this, BOTH, Trigger.EDGE);
        }
    }

    @Override
    public void onReady(int bits) {
        boolean failed = (bits & Bits.ERROR) != 0;
        if ((bits & (Bits.READABLE | Bits.READ_CLOSED)) != 0 || failed) {
            queue(read);
        }
        if ((bits & (Bits.WRITABLE | Bits.WRITE_CLOSED)) != 0 || failed) {
            queue(write);
        }
        if (failed) {
            queue(error);
        }
        arm();
    }

    /** Adds the callback that waits for this direction, if any, to the turn's snapshot. */
    private void queue(ReadinessDirection direction) {
        PendingNotification waiter = direction.ready();
        if (waiter != null) {
            reactor.add(waiter.with(NotifyOutcome.BECAME_READY), direction.priority);
        }
    }

    /** Asks the kernel for the awaited directions, if it does not report them anyway. */
    private void arm() {
        if (!oneShot || closed.get()) {
            return;
        }
        // Reading what is awaited and telling the kernel are two steps, and another thread may do both in between. So
        // after telling the kernel we read again: the last thread to tell it has told it everything that was awaited
        // then, and a callback that is added later tells it again.
        Interest told = Interest.NONE;
        for (Interest awaited = awaited(); !awaited.equals(told); awaited = awaited()) {
            told = awaited;
            if (!awaited.equals(Interest.NONE) && !tell(awaited)) {
                return;
            }
        }
    }

    private Interest awaited() {
        Interest interest = error.isAwaited() ? Interest.PRIORITY : Interest.NONE;
        interest = read.isAwaited() ? interest.and(Interest.READABLE) : interest;
        return write.isAwaited() ? interest.and(Interest.WRITABLE) : interest;
    }

    /** Returns false if the descriptor is closed. */
    private boolean tell(Interest interest) {
        try {
            reactor.poll.reregister(source, 0, interest, Trigger.ONESHOT);
            return true;
        } catch (IllegalStateException e) {
            if (!closed.get()) {
                throw e;
            }
            return false;
        }
    }

    private void await(ReadinessDirection direction, PendingNotification waiter) {
        if (direction.notify(waiter)) {
            reactor.executeAlways(waiter.with(NotifyOutcome.BECAME_READY), direction.priority);
        } else {
            arm();
        }
    }

    @Override
    public void notifyWhenReadable(Runnable callback) {
        await(read, new PendingNotification(this, Objects.requireNonNull(callback, "callback")));
    }

    @Override
    public void notifyWhenWritable(Runnable callback) {
        await(write, new PendingNotification(this, Objects.requireNonNull(callback, "callback")));
    }

    @Override
    public void notifyWhenHasError(Runnable callback) {
        await(error, new PendingNotification(this, Objects.requireNonNull(callback, "callback")));
    }

    @Override
    public void notifyWhenReadableOrTimeout(Consumer<NotifyOutcome> callback, long deadlineNanos) {
        awaitUntil(read, new PendingNotification(this, Objects.requireNonNull(callback, "callback")), deadlineNanos);
    }

    @Override
    public void notifyWhenWritableOrTimeout(Consumer<NotifyOutcome> callback, long deadlineNanos) {
        awaitUntil(write, new PendingNotification(this, Objects.requireNonNull(callback, "callback")), deadlineNanos);
    }

    /**
     * Creates the alarm first, so that the thread that takes the callback out of its direction finds it. If no callback
     * is waiting by then, the alarm does nothing.
     */
    private void awaitUntil(ReadinessDirection direction, PendingNotification waiter, long deadlineNanos) {
        Alarm timeout = new Alarm(
                reactor,
                deadlineNanos,
                0,
                0,
                fired -> {
                    if (fired && direction.timedOut(waiter)) {
                        waiter.with(NotifyOutcome.TIMED_OUT).run();
                    }
                },
                direction.priority);
        waiter.setTimeout(timeout);
        await(direction, waiter);
        try {
            reactor.schedule(timeout);
        } catch (RejectedExecutionException e) {
            // The reactor is in its last turn, which calls every waiting callback with CLOSED, sooner than any timeout.
        }
    }

    @Override
    public void clearReadable() {
        read.clear();
    }

    @Override
    public void clearWritable() {
        write.clear();
    }

    @Override
    public void clearHasError() {
        error.clear();
    }

    @Override
    public void forceReadable() {
        force(read);
    }

    @Override
    public void forceWritable() {
        force(write);
    }

    @Override
    public void forceHasError() {
        force(error);
    }

    private void force(ReadinessDirection direction) {
        PendingNotification waiter = direction.ready();
        if (waiter != null) {
            reactor.executeAlways(waiter.with(NotifyOutcome.BECAME_READY), direction.priority);
        }
    }

    @Override
    public void setReadPriority(Priority priority) {
        read.priority = Objects.requireNonNull(priority, "priority");
    }

    @Override
    public void setWritePriority(Priority priority) {
        write.priority = Objects.requireNonNull(priority, "priority");
    }

    @Override
    public void setErrorPriority(Priority priority) {
        error.priority = Objects.requireNonNull(priority, "priority");
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            deregister();
            closeDirections();
            runOnReactor(this::closeSource);
        }
    }

    @Override
    public int release() {
        if (!closed.compareAndSet(false, true)) {
            return -1;
        }
        deregister();
        closeDirections();
        table.forget(this, fd);
        return fd;
    }

    @Override
    public boolean isOf(Reactor other) {
        return reactor == other;
    }

    /** Calls the waiting callbacks. The source belongs to the user and stays open. */
    @Override
    public void onReactorEnd() {
        release();
    }

    private void deregister() {
        try {
            reactor.poll.deregister(source);
        } catch (IllegalStateException e) {
            // The source was closed, which deregistered it; or the poll was closed.
        }
    }

    private void closeDirections() {
        close(read);
        close(write);
        close(error);
    }

    private void close(ReadinessDirection direction) {
        PendingNotification waiter = direction.close();
        if (waiter != null) {
            runOnReactor(waiter.with(NotifyOutcome.CLOSED));
        }
    }

    /** Runs after what was queued before with the same priority, so that the source is closed after the callbacks. */
    private void runOnReactor(Runnable what) {
        reactor.executeAlways(what, Priority.SYSTEM);
    }

    private void closeSource() {
        table.forget(this, fd);
        if (source instanceof AutoCloseable closeable) {
            try {
                closeable.close();
            } catch (Throwable e) {
                FailureLog.report("closing " + source, e);
            }
        }
    }

    @Override
    public int fd() {
        return closed.get() ? -1 : fd;
    }

    @Override
    public Source source() {
        return source;
    }

    @Override
    public ReadinessEventManager manager() {
        return manager;
    }

    @Override
    public boolean isClosed() {
        return closed.get();
    }

    @Override
    public String toString() {
        return "descriptor of " + source + (isClosed() ? ", closed" : ": " + read + ", " + write + ", " + error);
    }
}
