package io.millrace.engine.watchdog;

import io.millrace.engine.internal.FailureLog;

/**
 * An item that a reactor ran while the watchdog had it time them.
 *
 * @param item what ran
 * @param nanos for how long
 */
public record TimedItem(Object item, long nanos) {
    @Override
    public String toString() {
        return nanos / 1_000 + " µs in " + FailureLog.name(item);
    }
}
