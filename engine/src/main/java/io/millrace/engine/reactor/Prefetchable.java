package io.millrace.engine.reactor;

/** An item of a run queue of which there may be thousands, so that its memory is seldom in the cache when its turn comes. */
public interface Prefetchable {
    /**
     * Loads what running it will need. The loads of several items do not depend on each other, so the processor waits for all of them as long as for one.
     *
     * @return anything, made of what was loaded
     */
    int prefetch();
}
