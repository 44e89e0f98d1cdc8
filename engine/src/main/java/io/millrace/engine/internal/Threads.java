package io.millrace.engine.internal;

/** What is said when there can be no more threads. */
public final class Threads {
    private Threads() {}

    /**
     * Something could not open for want of threads. Whoever throws it has left none behind.
     *
     * @param name what could not open
     * @param started how many threads it had got
     * @param wanted how many it needs
     * @param cause what the system said
     * @return to be thrown
     */
    public static IllegalStateException tooFew(String name, int started, int wanted, Throwable cause) {
        return tooFew("open", name, started, wanted, cause);
    }

    /**
     * Something could not be done for want of threads. Whoever throws it has left none behind.
     *
     * @param doing what was to be done
     * @param name with what
     * @param started how many threads it had got
     * @param wanted how many it needs
     * @param cause what the system said
     * @return to be thrown
     */
    public static IllegalStateException tooFew(String doing, String name, int started, int wanted, Throwable cause) {
        return new IllegalStateException(
                "cannot " + doing + " " + name + ": only " + started + " of " + wanted + " threads could be started ("
                        + cause.getMessage() + "); raise the limit of threads (ulimit -u, pids.max), or ask for fewer",
                cause);
    }
}
