package io.millrace.engine.reactor;

/**
 * Decides how long to look for work before sleeping (mr-10). Looking occupies a core, and waking up costs tens of
 * microseconds, so looking pays only if the next event usually comes soon. The budget returns to the maximum when a
 * look was successful. Otherwise it is halved, down to a 32nd; every eighth time in a row the full time is tried. A
 * sleep always follows, so an idle loop is silent.
 */
final class Spin {
    private final long maxNanos;
    private long budgetNanos;
    private int misses;

    Spin(long maxNanos) {
        this.maxNanos = maxNanos;
        this.budgetNanos = maxNanos;
    }

    boolean isOn() {
        return maxNanos > 0;
    }

    long budgetNanos() {
        return budgetNanos;
    }

    void recordHit() {
        misses = 0;
        budgetNanos = maxNanos;
    }

    void recordMiss() {
        misses++;
        // In full every eighth time, to notice when traffic comes back.
        budgetNanos = misses % 8 == 0 ? maxNanos : Math.max(maxNanos >> 5, budgetNanos >> 1);
    }
}
