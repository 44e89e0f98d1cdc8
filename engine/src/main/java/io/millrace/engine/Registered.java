package io.millrace.engine;

import io.millrace.poll.Interest;
import io.millrace.poll.Readiness;
import io.millrace.poll.Source;
import io.millrace.poll.Trigger;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A source of an {@link EventLoop}, its handler, and what keeps its order.
 *
 * <p>On the reactor's thread it is in the run queue once, and what becomes ready meanwhile is added to it. From there it goes to its dispatcher. If that
 * is another thread, the source is <em>in flight</em>: {@code flight} holds IN_FLIGHT and the readiness that has come since. Only who turns IN_FLIGHT
 * on dispatches, and only the thread that handles turns it off, when nothing has come meanwhile; so there is one call at a time, and no edge is lost (mill-3,
 * mill-16). A source that is not edge-triggered is taken out of the kernel's sight for that time, or it would be reported without end.
 */
final class Registered implements Owner, Runnable {
    private static final int IN_FLIGHT = 1 << 31;

    /** Whose handler a thread other than the loop's is in. */
    private static final ThreadLocal<EventLoop> HANDLING = new ThreadLocal<>();

    private static final VarHandle FLIGHT;

    static {
        try {
            FLIGHT = MethodHandles.lookup().findVarHandle(Registered.class, "flight", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final Reactor reactor;
    final Source source;
    final long token;
    final Runnable handling = this::handle;

    private final EventLoop loop;
    private final EventHandler handler;
    private final Dispatcher dispatcher;
    private final boolean onLoop;
    private final Priority priority;

    /** Replaced by control calls; read by whoever handles. */
    volatile Interest interest;

    volatile Trigger trigger;
    private volatile boolean gone;

    /** What has become ready and is not delivered. The reactor's thread. */
    private int pending;

    private boolean queued;

    private volatile int flight;

    Registered(
            EventLoop loop,
            Reactor reactor,
            Dispatcher dispatcher,
            Source source,
            long token,
            Interest interest,
            Trigger trigger,
            Priority priority,
            EventHandler handler) {
        this.loop = loop;
        this.reactor = reactor;
        this.dispatcher = dispatcher;
        this.onLoop = dispatcher instanceof Dispatcher.OnLoop;
        this.source = source;
        this.token = token;
        this.interest = interest;
        this.trigger = trigger;
        this.priority = priority;
        this.handler = handler;
    }

    @Override
    public void signalled(int bits) {
        pending |= bits;
        if (!queued) {
            queued = true;
            reactor.add(this, priority);
        }
    }

    /** Its turn in the run queue. */
    @Override
    public void run() {
        queued = false;
        int bits = pending;
        pending = 0;
        if (gone) {
            return;
        }
        if (onLoop) {
            call(bits);
            return;
        }
        int before = (int) FLIGHT.getAndBitwiseOr(this, bits | IN_FLIGHT);
        if (trigger == Trigger.LEVEL) {
            show(Interest.NONE);
        }
        if ((before & IN_FLIGHT) == 0) {
            dispatcher.dispatch(this);
        }
    }

    /** Calls the handler once, off the loop, with what has come so far; and has itself called again if more has come meanwhile. */
    void handle() {
        int bits = (int) FLIGHT.getAndSet(this, IN_FLIGHT) & ~IN_FLIGHT;
        if (!gone) {
            HANDLING.set(loop);
            try {
                call(bits);
            } finally {
                HANDLING.remove();
            }
        }
        if (FLIGHT.compareAndSet(this, IN_FLIGHT, 0)) {
            if (trigger == Trigger.LEVEL && !gone) {
                show(interest);
            }
        } else {
            dispatcher.dispatch(this);
        }
    }

    /** What the kernel is to look for while the user's interest stays as it is. */
    private void show(Interest visible) {
        try {
            reactor.poll.reregister(source, token, visible, Trigger.LEVEL);
        } catch (IllegalStateException e) {
            // Deregistered or closed meanwhile.
        }
    }

    private void call(int bits) {
        Readiness readiness = reactor.visible(bits, interest);
        if (readiness == Readiness.NONE) {
            return;
        }
        try {
            handler.ready(loop, token, readiness);
        } catch (Throwable e) {
            reactor.metrics.failureElsewhere();
            report(e);
        }
    }

    private void report(Throwable failure) {
        if (failure instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        try {
            handler.onError(loop, token, failure);
        } catch (RuntimeException | Error e) {
            e.addSuppressed(failure);
            Failures.log("onError of " + this, e);
        }
    }

    /** No call begins after this, except one that another thread is about to make. */
    void forget() {
        gone = true;
    }

    /** Whether the calling thread is in a handler of this loop, off the loop. */
    static boolean isHandling(EventLoop loop) {
        return HANDLING.get() == loop;
    }

    boolean isInFlight() {
        return (flight & IN_FLIGHT) != 0;
    }

    @Override
    public String toString() {
        return "handler " + handler + " of token " + token + ", " + source;
    }
}
