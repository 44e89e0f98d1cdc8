package io.millrace.engine.pool;

/**
 * What an {@link ObjectPool} has done. While others use the pool each number is right on its own; together they are exact when nobody does.
 *
 * @param created objects made, those of the prefill included
 * @param acquired how often an object was handed out
 * @param idle objects that wait in the pool
 * @param dropped objects that came back and were not kept, or were idle when the pool was closed
 */
public record ObjectPoolMetrics(long created, long acquired, int idle, long dropped) {
    /**
     * How many objects are out: acquired and not closed, or lost by whoever never closed them.
     *
     * @return {@code created - idle - dropped}, never negative
     */
    public long inUse() {
        return Math.max(0, created - idle - dropped);
    }
}
