package io.millrace.conformance;

import io.millrace.poll.Event;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Source;
import io.millrace.poll.Trigger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The thread of {@link ThreadyManager} that knows descriptors, and on which their callbacks run. Whoever changes a descriptor pokes it, and this
 * thread lets it do what is to be done.
 */
final class IoThread {
    /** What is served here. */
    abstract static class Served {
        private final AtomicBoolean isPoked = new AtomicBoolean();
        private final IoThread io;

        Served(IoThread io) {
            this.io = io;
        }

        final void poke() {
            if (!isPoked.getAndSet(true)) {
                io.poked.add(this);
                io.poll.wake();
            }
        }

        /** The kernel tells of it; the I/O thread. */
        abstract void ready(Event event);

        /** Does what can be done, without waiting; the I/O thread. */
        abstract void serve();

        /** The manager ends: lets go, and {@link #serve} will tell who waits; any thread. */
        abstract void letGo();
    }

    private final Poll poll;
    private final ThreadyManager manager;
    private final AtomicLong tokens = new AtomicLong();
    private final Map<Long, Served> served = new ConcurrentHashMap<>();
    private final Map<Served, Long> tokenOf = new ConcurrentHashMap<>();
    private final Queue<Served> poked = new ConcurrentLinkedQueue<>();
    /** How many turns have begun or ended: odd within one. Between a write that the peer sees and the callback that tells of it, it is odd. */
    private final AtomicLong halfTurns = new AtomicLong();

    private volatile boolean isEnding;

    IoThread(ThreadyManager manager) {
        this.manager = manager;
        this.poll = Poll.open();
    }

    void register(Served descriptor, Source source) {
        if (isEnding) {
            throw new RejectedExecutionException("cannot watch " + source + ": " + manager + " has ended");
        }
        long token = tokens.incrementAndGet();
        tokenOf.put(descriptor, token);
        served.put(token, descriptor);
        boolean registered = false;
        try {
            poll.register(source, token, Interest.READ_WRITE, Trigger.EDGE);
            registered = true;
        } finally {
            if (!registered) {
                forget(descriptor);
            }
        }
    }

    void deregister(Served descriptor, Source source) {
        if (forget(descriptor)) {
            try {
                poll.deregister(source);
            } catch (IllegalStateException e) {
                // It was closed before, as by a connect that failed, and has left the poll with that.
            }
        }
    }

    /** True for one caller. */
    private boolean forget(Served descriptor) {
        Long token = tokenOf.remove(descriptor);
        if (token != null) {
            served.remove(token);
        }
        return token != null;
    }

    void end() {
        isEnding = true;
        poll.wake();
    }

    /** How far it is, if nothing is left to do of what it was told; or -1. */
    long idleSince() {
        long now = halfTurns.get();
        return now % 2 == 0 && poked.isEmpty() ? now : -1;
    }

    void run() {
        Events events = Events.withCapacity(64);
        while (!isEnding) {
            poll.poll(events, poked.isEmpty() ? null : Duration.ZERO);
            halfTurns.incrementAndGet();
            for (Event event : events) {
                Served descriptor = served.get(event.token());
                if (descriptor != null) {
                    descriptor.ready(event);
                    descriptor.poke();
                }
            }
            serveThePoked();
            halfTurns.incrementAndGet();
        }
        new ArrayList<>(tokenOf.keySet()).forEach(Served::letGo);
        while (!poked.isEmpty()) {
            serveThePoked();
        }
        poll.close();
    }

    /** Those that are poked now; what they poke in turn comes next time. */
    private void serveThePoked() {
        for (int left = poked.size(); left > 0; left--) {
            Served next = poked.poll();
            if (next != null) {
                next.isPoked.set(false);
                manager.serve(next::serve);
            }
        }
    }
}
