package io.millrace.engine.watchdog;

import io.millrace.engine.internal.FailureLog;

/**
 * An item that a reactor ran while the watchdog had it measure them.
 *
 * @param item the item
 * @param nanos how long it ran
 */
public record TimedItem(Object item, long nanos) {
    @Override
    public String toString() {
        return nanos / 1_000 + " µs in " + FailureLog.name(item);
    }
}
