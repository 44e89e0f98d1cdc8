package io.millrace.netty;

import io.millrace.poll.Events;
import io.millrace.poll.Poll;
import io.millrace.poll.Trigger;
import io.millrace.poll.internal.PollAccess;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Netty's event loop on a {@link Poll} of its own: Netty has the thread, its tasks and timers; this waits.
 *
 * <p><b>No wake-up is lost.</b> A thread that submits a task publishes the task and then calls {@link #wakeup}, which
 * sets {@code wakeRequested} and looks whether the poll is asleep. The loop announces that it sleeps and then looks once
 * more for tasks and for {@code wakeRequested}. Whichever comes second sees the other. A wake-up for which there is no
 * task ends the current wait, or the next one.
 *
 * <p><b>Threads.</b> {@link #wakeup}, {@link #isCompatible} and a registration's {@code cancel} may be called by any
 * thread; the rest belongs to the loop.
 */
final class MillraceIoHandler implements IoHandler {
    private static final InternalLogger LOG = InternalLoggerFactory.getInstance(MillraceIoHandler.class);
    private static final int EVENTS = 1024;
    private static final long PAUSE_AFTER_FAILURE = 1_000_000_000;
    private static final long FOREVER = Long.MAX_VALUE;

    private final Poll poll;
    private final PollAccess access;
    private final Events events = Events.withCapacity(EVENTS);
    private final LoopMemory memory = new LoopMemory();
    private final Set<PollRegistration> registrations = ConcurrentHashMap.newKeySet();
    private final PollAccess.PendingWork work = this::isPending;

    private volatile boolean wakeRequested;
    private @Nullable IoHandlerContext context;
    private boolean destroyed;

    MillraceIoHandler(Poll poll) {
        this.poll = poll;
        this.access = PollAccess.get();
    }

    @Override
    public int run(IoHandlerContext current) {
        context = current;
        if (!access.tryEnter(poll)) {
            throw new IllegalStateException("another thread runs the loop of " + poll);
        }
        try {
            access.pollOnce(poll, events, timeoutNanos(current), work);
            wakeRequested = false;
            return dispatch(current);
        } catch (RuntimeException e) {
            warn("Cannot wait on {}; trying again in a second.", poll, e);
            LockSupport.parkNanos(PAUSE_AFTER_FAILURE);
            return 0;
        } finally {
            access.leave(poll);
        }
    }

    /** A log that fails, for want of a descriptor perhaps, must not end the loop and all its channels. */
    private static void warn(String format, Object what, Throwable cause) {
        try {
            LOG.warn(format, what, cause);
        } catch (Throwable e) {
            cause.addSuppressed(e);
        }
    }

    private static long timeoutNanos(IoHandlerContext current) {
        if (!current.canBlock()) {
            return 0;
        }
        // Netty would wake up once a second if there is no timer; this sleeps until something happens.
        return current.deadlineNanos() == -1 ? FOREVER : Math.max(0, current.delayNanos(System.nanoTime()));
    }

    private boolean isPending() {
        IoHandlerContext current = context;
        return wakeRequested || (current != null && !current.canBlock());
    }

    private int dispatch(IoHandlerContext current) {
        if (!current.shouldReportActiveIoTime()) {
            return dispatch();
        }
        long began = System.nanoTime();
        int served = dispatch();
        current.reportActiveIoTime(System.nanoTime() - began);
        return served;
    }

    private int dispatch() {
        int served = 0;
        while (events.advance()) {
            if (access.sink(events) instanceof PollRegistration ready) {
                ready.dispatch(access.bits(events));
                served++;
            }
        }
        return served;
    }

    @Override
    public void wakeup() {
        wakeRequested = true;
        access.wakeSleeper(poll);
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> type) {
        return SocketIoHandle.class.isAssignableFrom(type);
    }

    @Override
    public IoRegistration register(IoHandle handle) {
        if (!(handle instanceof SocketIoHandle socket)) {
            throw new IllegalArgumentException(
                    "a Millrace loop takes the channels of " + getClass().getPackageName() + " only, not " + handle);
        }
        PollRegistration registration = new PollRegistration(socket);
        registrations.add(registration);
        handle.registered();
        return registration;
    }

    @Override
    public void prepareToDestroy() {
        for (PollRegistration each : registrations) {
            try {
                each.handle.close();
            } catch (Exception e) {
                LOG.debug("Cannot close {}.", each.handle, e);
            }
        }
    }

    @Override
    public void destroy() {
        if (!destroyed) {
            destroyed = true;
            prepareToDestroy(); // channels whose registration was among the last tasks
            poll.close();
        }
    }

    @Override
    public String toString() {
        return "Netty on " + poll;
    }

    /** A socket on this loop. It is added to the poll when it first wants something. */
    private final class PollRegistration implements IoRegistration {
        private final SocketIoHandle handle;
        private final ReadinessEvent event = new ReadinessEvent();
        private final AtomicBoolean cancelled = new AtomicBoolean();
        private boolean added;

        PollRegistration(SocketIoHandle handle) {
            this.handle = handle;
        }

        void dispatch(int bits) {
            event.bits = bits;
            try {
                handle.handle(this, event);
            } catch (Throwable e) {
                warn("A channel failed to handle its readiness: {}", handle, e);
            }
        }

        @Override
        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // as the interface has it
        public <T> T attachment() {
            return (T) memory;
        }

        @Override
        public long submit(IoOps ops) {
            if (!isValid()) {
                return -1;
            }
            ReadinessOps wanted = (ReadinessOps) ops;
            if (added) {
                poll.reregister(handle.source(), 0, wanted.interest, Trigger.LEVEL);
            } else if (wanted != ReadinessOps.NONE) {
                access.register(poll, handle.source(), 0, this, wanted.interest, Trigger.LEVEL);
                added = true;
            }
            return wanted.id;
        }

        @Override
        public boolean isValid() {
            return !cancelled.get() && handle.isSocketOpen();
        }

        @Override
        public boolean cancel() {
            if (!cancelled.compareAndSet(false, true)) {
                return false;
            }
            registrations.remove(this);
            if (added) {
                try {
                    poll.deregister(handle.source());
                } catch (IllegalStateException e) {
                    // Closing the socket has ended it already.
                }
            }
            handle.unregistered();
            return true;
        }

        @Override
        public String toString() {
            return handle + " on " + poll;
        }
    }
}
