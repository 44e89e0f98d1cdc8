package io.millrace.engine;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Keeps the calls of a handler from overlapping and loses no readiness. One atomic word holds whether a call is in
 * flight and what has become ready since it began.
 *
 * <p>Only the thread that sets IN_FLIGHT dispatches, and only the thread that runs the handler clears it, if nothing
 * has come meanwhile. So there is one call at a time, and no edge is lost (mill-3, mill-16).
 */
final class InFlight {
    private static final int IN_FLIGHT = 1 << 31;

    private final AtomicInteger word = new AtomicInteger();

    /** Adds readiness. Returns true if no call was in flight, so that the caller must dispatch. */
    boolean begin(int bits) {
        return (word.getAndUpdate(old -> old | bits | IN_FLIGHT) & IN_FLIGHT) == 0;
    }

    /** Takes what has become ready so far, for the call that begins now. */
    int take() {
        return word.getAndSet(IN_FLIGHT) & ~IN_FLIGHT;
    }

    /** Ends the call. Returns false if more has come meanwhile, so that the caller must dispatch again. */
    boolean end() {
        return word.compareAndSet(IN_FLIGHT, 0);
    }

    boolean isOn() {
        return (word.get() & IN_FLIGHT) != 0;
    }
}
