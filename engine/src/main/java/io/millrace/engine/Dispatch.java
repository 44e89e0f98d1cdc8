package io.millrace.engine;

/**
 * Where handlers are called. In each mode the calls for one source or connection come one after the other, in order: a
 * source whose handler is running is in flight, and if it becomes ready meanwhile, its handler is called again
 * afterwards.
 */
public enum Dispatch {
    /**
     * On the loop that polled, without handing over to another thread. There are as many loops as workers, and a source
     * stays on one loop. This is the fastest mode, for handlers that do not block.
     */
    LOOP,
    /**
     * One loop polls, and as many threads as there are workers call the handlers. For handlers that may block for a
     * while.
     */
    POOL,
    /**
     * One loop polls, and virtual threads call the handlers. For handlers that may block for any time.
     *
     * <p>These virtual threads run on the thread of the loop that polled, where the JVM allows it ({@link
     * VirtualThreadReport}) and {@code loopThreads} of the builder does: then handlers that read files or call native code
     * should do that in {@link OffLoop}, or they block the loop.
     */
    VIRTUAL
}
