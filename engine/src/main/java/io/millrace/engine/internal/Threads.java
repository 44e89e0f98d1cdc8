package io.millrace.engine.internal;

/** The exceptions for a system that cannot start more threads. */
public final class Threads {
    private Threads() {}

    /**
     * Creates the exception for something that could not open because it could not start enough threads. The caller has
     * ended those that were started.
     *
     * @param name what could not open
     * @param started how many threads were started
     * @param wanted how many it needs
     * @param cause what the system said
     * @return the exception to throw
     */
    public static IllegalStateException tooFew(String name, int started, int wanted, Throwable cause) {
        return tooFew("open", name, started, wanted, cause);
    }

    /**
     * Creates the exception for something that could not be done because not enough threads could be started. The
     * caller has ended those that were started.
     *
     * @param doing what was to be done
     * @param name the object concerned
     * @param started how many threads were started
     * @param wanted how many it needs
     * @param cause what the system said
     * @return the exception to throw
     */
    public static IllegalStateException tooFew(String doing, String name, int started, int wanted, Throwable cause) {
        return new IllegalStateException(
                "cannot " + doing + " " + name + ": only " + started + " of " + wanted + " threads could be started ("
                        + cause.getMessage() + "); raise the limit of threads (ulimit -u, pids.max), or ask for fewer",
                cause);
    }
}
