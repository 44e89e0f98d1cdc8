package io.millrace.engine;

/**
 * Where an {@link EventLoop} calls its handlers. In each of them a source's calls come one after the other, in order: a source whose handler is running is
 * in flight, and what becomes ready meanwhile is told to it afterwards.
 */
public enum Dispatch {
    /**
     * On the loop that polled: nothing is handed over. There are as many loops as workers, and a source stays with one. The fastest, for handlers that
     * do not block.
     */
    LOOP,
    /** One loop polls, and as many threads as workers call the handlers. For handlers that may block for a while. */
    POOL,
    /** One loop polls, and virtual threads call the handlers. For handlers that block as they please. */
    VIRTUAL
}
