package io.millrace.engine.reactor;

/**
 * An item of a run queue whose memory is probably not in the cache when its turn comes, because there may be thousands
 * of them.
 */
public interface Prefetchable {
    /**
     * Loads the memory that running it will need. The loads of several items do not depend on each other, so waiting
     * for all of them takes no longer than waiting for one.
     *
     * @return a value computed from what was loaded, so that the loads are not optimized away
     */
    int prefetch();
}
