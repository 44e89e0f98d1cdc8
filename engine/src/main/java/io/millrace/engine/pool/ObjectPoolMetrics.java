package io.millrace.engine.pool;

/**
 * What an {@link ObjectPool} has done. While other threads use the pool, each number is correct by itself; together
 * they are exact only when none does.
 *
 * @param created objects created, including those of the prefill
 * @param acquired how often an object was handed out
 * @param idle objects in the pool
 * @param dropped objects that came back and were not kept, or were idle when the pool was closed
 */
public record ObjectPoolMetrics(long created, long acquired, int idle, long dropped) {
    /**
     * Returns how many objects are on loan: acquired and not closed, or lost without close.
     *
     * @return {@code created - idle - dropped}, never negative
     */
    public long inUse() {
        return Math.max(0, created - idle - dropped);
    }
}
