package io.millrace.engine.internal;

/** Runs work that a callback must not wait for. */
public final class Background {
    private Background() {}

    /**
     * Runs a task on a new platform thread. It is not a virtual thread, because all carriers may be held by what is to
     * be shut down. If no thread can be started, the task runs on the calling thread.
     *
     * @param name the name of the thread
     * @param what the task
     */
    public static void run(String name, Runnable what) {
        try {
            Thread.ofPlatform().daemon(true).name(name).start(what);
        } catch (OutOfMemoryError e) {
            what.run();
        }
    }
}
