package io.millrace.testkit;

import io.millrace.backplane.memory.MemoryStore;

/** Has the engine {@code memory:NAME} fail, as one on another machine would. */
public final class MemoryBackplanes {
    private MemoryBackplanes() {}

    /**
     * Has it stop answering.
     *
     * @param name what follows {@code memory:} in the URL
     */
    public static void stop(String name) {
        MemoryStore.inUse(name).leave(new IllegalStateException("the test has stopped it"));
    }

    /**
     * Has it answer again.
     *
     * @param name what follows {@code memory:} in the URL
     * @param withData whether it has its records still
     */
    public static void start(String name, boolean withData) {
        MemoryStore.inUse(name).comeBack(withData);
    }
}
