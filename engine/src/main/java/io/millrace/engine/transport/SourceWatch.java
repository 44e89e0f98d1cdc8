package io.millrace.engine.transport;

import io.millrace.engine.Priority;
import io.millrace.engine.reactor.EventSink;
import io.millrace.engine.reactor.Reactor;
import io.millrace.poll.Interest;
import io.millrace.poll.Source;
import io.millrace.poll.Trigger;

/**
 * A source of a bridge on a reactor, watched by level. Its events are items of the run queue, one at a time; so they are
 * served fairly beside everything else, and the watchdog and the metrics include them.
 *
 * <p>Everything is called on the reactor's thread, except {@link #end} and {@link #cutOff}.
 */
public final class SourceWatch implements EventSink, Runnable {
    private final Reactor reactor;
    private final Source source;
    private final WatchSink sink;
    private boolean registered;
    private volatile boolean ended;
    private int pending;
    private boolean queued;

    SourceWatch(Reactor reactor, Source source, WatchSink sink) {
        this.reactor = reactor;
        this.source = source;
        this.sink = sink;
    }

    /** Sets which readiness is reported. The source is registered when that is first not nothing. */
    public void change(Interest interest) {
        if (ended) {
            return;
        }
        if (registered) {
            reactor.poll.reregister(source, 0, interest, Trigger.LEVEL);
        } else if (interest != Interest.NONE) {
            reactor.register(source, 0, this, interest, Trigger.LEVEL);
            registered = true;
        }
    }

    /** Ends it. The source stays open, unless its owner has closed it, which may happen before. Any thread. */
    public void end() {
        if (!ended) {
            ended = true;
            if (registered) {
                try {
                    reactor.poll.deregister(source);
                } catch (IllegalStateException e) {
                    // Closing the source, or the poll, has ended it already.
                }
            }
        }
    }

    @Override
    public void onReady(int bits) {
        pending |= bits;
        if (!queued) {
            queued = true;
            reactor.add(this, Priority.NORMAL);
        }
    }

    @Override
    public void run() {
        queued = false;
        int bits = pending;
        pending = 0;
        if (!ended) {
            sink.onReady(bits);
        }
    }

    @Override
    public void onReactorEnd() {
        if (!ended) {
            sink.onLoopEnd();
        }
    }

    @Override
    public void cutOff() {
        sink.cutOff();
    }

    @Override
    public String toString() {
        return sink.toString();
    }
}
