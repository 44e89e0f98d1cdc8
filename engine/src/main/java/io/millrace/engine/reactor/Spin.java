package io.millrace.engine.reactor;

/**
 * How long to look for work before sleeping (mr-10). Looking costs a core, waking up costs tens of microseconds; so it is worth it only where the
 * next event usually comes soon. The budget goes back to the maximum when looking found something, and is halved, down to a 32nd, when it did not; every
 * eighth time in a row it is tried in full. Whatever the budget, a sleep follows: an idle loop is silent.
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

    void found() {
        misses = 0;
        budgetNanos = maxNanos;
    }

    void missed() {
        misses++;
        // Every eighth time in full: traffic that comes back is noticed.
        budgetNanos = misses % 8 == 0 ? maxNanos : Math.max(maxNanos >> 5, budgetNanos >> 1);
    }
}
