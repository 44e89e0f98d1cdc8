package io.millrace.engine;

import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.reactor.EventSink;
import io.millrace.engine.reactor.Reactor;
import io.millrace.poll.Interest;
import io.millrace.poll.Readiness;
import io.millrace.poll.Source;
import io.millrace.poll.Trigger;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A source of an {@link EventLoop} with its handler, and the state that keeps the handler's calls in order.
 *
 * <p>It is in the run queue at most once; what becomes ready meanwhile is merged into it. From there it goes to its
 * dispatcher. If the dispatcher uses another thread, the source is then <em>in flight</em>: {@link InFlight} explains
 * why there is one call at a time and no edge is lost (mill-3, mill-16).
 *
 * <p>A source that is not edge-triggered is hidden from the kernel during that time; otherwise it would be reported
 * without end. Hiding and showing are not atomic with the flight, nor with a user's reregister. So each thread checks
 * again afterwards: one that has hidden the source, whether it is still in flight; one that has shown it, whether it is
 * still to be shown with these terms. The last thread to act has seen what the others did. A source that is shown
 * during a flight is hidden when it is reported again.
 *
 * <p>A handler that throws may have left input of an edge unread, and not every source is reported again when more
 * arrives. So the source is reregistered after a pause, which reports it if it is ready. The pause doubles each time
 * the handler throws again, up to a second, so a handler that always throws costs next to nothing (mill-4).
 */
final class HandlerRegistration implements EventSink, Runnable {
    /** The loop whose handler the current thread is running off the loop. */
    private static final ThreadLocal<EventLoop> HANDLING = new ThreadLocal<>();

    private static final long FIRST_PAUSE_NANOS = 1_000_000;
    private static final long LONGEST_PAUSE_NANOS = 1_000_000_000;

    final Reactor reactor;
    final Source source;
    final long token;
    final Runnable handling = this::handle;

    private final EventLoop loop;
    private final EventHandler handler;
    private final HandlerDispatcher dispatcher;
    private final boolean onLoop;
    private final Priority priority;

    /** What the user last asked for. Both values are replaced together, so that no thread sees half of a change. */
    private record Wish(Interest interest, Trigger trigger) {}

    private final AtomicReference<Wish> wish;
    private volatile boolean gone;

    /** What has become ready and was not delivered yet. Used on the reactor's thread. */
    private int pending;

    private boolean queued;

    /** How often the handler has thrown in a row. Of its calls, which come one after the other. */
    private int failures;

    /** An alarm will have the source reported again. Cleared before it is, so whoever finds it set is in time. */
    private volatile boolean willShow;

    private final InFlight flight = new InFlight();

    HandlerRegistration(
            EventLoop loop,
            Reactor reactor,
            HandlerDispatcher dispatcher,
            Source source,
            long token,
            Interest interest,
            Trigger trigger,
            Priority priority,
            EventHandler handler) {
        this.loop = loop;
        this.reactor = reactor;
        this.dispatcher = dispatcher;
        this.onLoop = dispatcher instanceof HandlerDispatcher.OnLoop;
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

    /** Called when its turn comes in the run queue. */
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

    /**
     * Calls the handler once, off the loop, with what has become ready so far; dispatches again if more has come
     * meanwhile.
     */
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

    /** Makes the kernel watch nothing, while the user's interest stays as it is. */
    private void hide() {
        reregister(new Wish(Interest.NONE, Trigger.LEVEL));
        if (!flight.isOn() || wish().trigger() != Trigger.LEVEL) {
            show();
        }
    }

    /** Makes the kernel watch what the user is interested in. */
    @SuppressWarnings("ReferenceEquality") // a new object is enough reason to do it again, even if it is equal
    private void show() {
        Wish shown;
        do {
            shown = wish();
            reregister(shown);
        } while (!gone && shown != wish());
    }

    /**
     * Carries out the user's reregister. If two threads do this at once, the wish that was made last holds: a thread
     * that told the kernel of another one checks again, so the last to tell it has told it the last wish.
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
            failures = 0;
        } catch (Throwable e) {
            try {
                reactor.metrics.countFailureElsewhere();
                report(e);
            } finally {
                failures++;
                showLater();
            }
        }
    }

    /** What the handler left of an edge is reported again, after a pause. */
    private void showLater() {
        if (gone || willShow || wish().trigger() != Trigger.EDGE) {
            return;
        }
        willShow = true;
        long pause = Math.min(LONGEST_PAUSE_NANOS, FIRST_PAUSE_NANOS << Math.min(failures - 1, 20));
        try {
            loop.schedule(reactor, pause, 0, new Showing(this), priority);
        } catch (RejectedExecutionException e) {
            // The loop has ended.
        }
    }

    /** An alarm, with a name for those who look at what is due. */
    private record Showing(HandlerRegistration of) implements AlarmCallback {
        @Override
        public void onAlarm(boolean fired) {
            of.willShow = false;
            if (fired && of.wish().trigger() == Trigger.EDGE) {
                of.show();
            }
        }

        @Override
        public String toString() {
            return "of another call after a failure of " + of;
        }
    }

    private void report(Throwable failure) {
        if (failure instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        try {
            handler.onError(loop, token, failure);
        } catch (Throwable e) {
            FailureLog.report(this, e, failure);
        }
    }

    /** Prevents further calls, except one that another thread is just about to make. */
    void forget() {
        gone = true;
    }

    @Override
    public void onReactorEnd() {
        forget();
    }

    /** Returns whether the calling thread is in a handler of this loop, off the loop. */
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
