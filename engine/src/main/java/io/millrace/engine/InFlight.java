package io.millrace.engine;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * What keeps the calls of a handler apart and loses no readiness, in one word: whether a call is in flight, and what has come since it began.
 *
 * <p>Only who turns IN_FLIGHT on dispatches, and only the thread that handles turns it off, when nothing has come meanwhile. So there is one call at a time, and
 * no edge is lost (mill-3, mill-16).
 */
final class InFlight {
    private static final int IN_FLIGHT = 1 << 31;

    private final AtomicInteger word = new AtomicInteger();

    /** Something has come: true if nothing was in flight, and the caller must dispatch. */
    boolean begin(int bits) {
        return (word.getAndUpdate(old -> old | bits | IN_FLIGHT) & IN_FLIGHT) == 0;
    }

    /** What has come so far, for the call that begins now. */
    int take() {
        return word.getAndSet(IN_FLIGHT) & ~IN_FLIGHT;
    }

    /** The call is over: false if more has come meanwhile, and the caller must dispatch again. */
    boolean end() {
        return word.compareAndSet(IN_FLIGHT, 0);
    }

    boolean isOn() {
        return (word.get() & IN_FLIGHT) != 0;
    }
}
