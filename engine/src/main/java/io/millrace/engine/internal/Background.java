package io.millrace.engine.internal;

/** Runs what a callback must not wait for. */
public final class Background {
    private Background() {}

    /**
     * Runs something on a thread of its own: a platform thread, because virtual ones may all be held up by what is to be ended. If there can be no more threads, here.
     *
     * @param name of the thread
     * @param what to run
     */
    public static void run(String name, Runnable what) {
        try {
            Thread.ofPlatform().daemon(true).name(name).start(what);
        } catch (OutOfMemoryError e) {
            what.run();
        }
    }
}
