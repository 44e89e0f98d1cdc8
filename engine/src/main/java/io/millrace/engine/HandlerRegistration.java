package io.millrace.engine;

import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.reactor.EventSink;
import io.millrace.engine.reactor.Reactor;
import io.millrace.poll.Interest;
import io.millrace.poll.Readiness;
import io.millrace.poll.Source;
import io.millrace.poll.Trigger;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A source of an {@link EventLoop}, its handler, and what keeps its order.
 *
 * <p>On the reactor's thread it is in the run queue once, and what becomes ready meanwhile is added to it. From there it goes to its dispatcher. If that
 * is another thread, the source is <em>in flight</em>: see {@link InFlight} for why there is one call at a time and no edge is lost (mill-3, mill-16).
 *
 * <p>A source that is not edge-triggered is taken out of the kernel's sight for that time, or it would be reported without end. Hiding and showing are not one step with the
 * flight, nor with a user's reregister. So whoever has done either looks once more: who has hidden it, whether it is still in flight; who has shown it, whether it is
 * still to be shown like that. The last to act has seen what the others did. A source that is shown during a flight is hidden when it is reported again.
 */
final class HandlerRegistration implements EventSink, Runnable {
    /** Whose handler a thread other than the loop's is in. */
    private static final ThreadLocal<EventLoop> HANDLING = new ThreadLocal<>();

    final Reactor reactor;
    final Source source;
    final long token;
    final Runnable handling = this::handle;

    private final EventLoop loop;
    private final EventHandler handler;
    private final Dispatcher dispatcher;
    private final boolean onLoop;
    private final Priority priority;

    /** What the user asked for last; both in one step, so that nobody sees half of a change. */
    private record Wish(Interest interest, Trigger trigger) {}

    private final AtomicReference<Wish> wish;
    private volatile boolean gone;

    /** What has become ready and is not delivered. The reactor's thread. */
    private int pending;

    private boolean queued;

    private final InFlight flight = new InFlight();

    HandlerRegistration(
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
        this.wish = new AtomicReference<>(new Wish(interest, trigger));
        this.priority = priority;
        this.handler = handler;
    }

    @Override
    public void onReady(int bits) {
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
        boolean first = flight.begin(bits);
        if (wish().trigger() == Trigger.LEVEL) {
            hide();
        }
        if (first) {
            dispatcher.dispatch(this);
        }
    }

    /** Calls the handler once, off the loop, with what has come so far; and has itself called again if more has come meanwhile. */
    void handle() {
        int bits = flight.take();
        if (!gone) {
            HANDLING.set(loop);
            try {
                call(bits);
            } finally {
                HANDLING.remove();
            }
        }
        if (flight.end()) {
            if (wish().trigger() == Trigger.LEVEL) {
                show();
            }
        } else {
            dispatcher.dispatch(this);
        }
    }

    /** The kernel is to look for nothing, while the user's interest stays as it is. */
    private void hide() {
        reregister(new Wish(Interest.NONE, Trigger.LEVEL));
        if (!flight.isOn() || wish().trigger() != Trigger.LEVEL) {
            show();
        }
    }

    /** The kernel is to look for what the user is interested in. */
    @SuppressWarnings("ReferenceEquality") // another object is reason enough to do it again
    private void show() {
        Wish shown;
        do {
            shown = wish();
            reregister(shown);
        } while (!gone && shown != wish());
    }

    /**
     * The user's reregister. Of two threads that do so at once, the wish that was made last holds: whoever told the kernel of another one looks again, and so the
     * last to tell it has told it the last wish.
     */
    @SuppressWarnings("ReferenceEquality")
    void change(Interest interest, Trigger trigger) {
        Wish mine = new Wish(interest, trigger);
        Wish before = wish.getAndSet(mine);
        boolean done = false;
        try {
            reactor.poll.reregister(source, token, interest, trigger);
            done = true;
        } finally {
            if (!done) {
                wish.compareAndSet(mine, before);
            }
        }
        if (mine != wish()) {
            show();
        }
    }

    private void reregister(Wish by) {
        if (gone) {
            return;
        }
        try {
            reactor.poll.reregister(source, token, by.interest(), by.trigger());
        } catch (IllegalStateException e) {
            // Deregistered or closed meanwhile.
        }
    }

    private Wish wish() {
        return Objects.requireNonNull(wish.get());
    }

    private void call(int bits) {
        try {
            Readiness readiness = reactor.visible(bits, wish().interest());
            if (readiness != Readiness.NONE) {
                handler.ready(loop, token, readiness);
            }
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
        } catch (Throwable e) {
            FailureLog.report("onError of " + this, e, failure);
        }
    }

    /** No call begins after this, except one that another thread is about to make. */
    void forget() {
        gone = true;
    }

    @Override
    public void onReactorEnd() {
        forget();
    }

    /** Whether the calling thread is in a handler of this loop, off the loop. */
    static boolean isHandling(EventLoop loop) {
        return HANDLING.get() == loop;
    }

    boolean isInFlight() {
        return flight.isOn();
    }

    @Override
    public String toString() {
        return "handler " + FailureLog.name(handler) + " of token " + token + ", " + source;
    }
}
