package io.millrace.testkit;

/**
 * A backend as a suite needs to know it.
 *
 * @param name what {@code Poll.builder().backend(…)} is given, and what {@code poll.backend()} must answer
 * @param hints whether it reports READ_CLOSED, WRITE_CLOSED and ERROR; only READABLE and WRITABLE are owed by all
 * @param hostile whether it disturbs on purpose: it returns fewer events than it could, and wakes up for nothing
 */
public record TestedBackend(String name, boolean hints, boolean hostile) {
    private static final int PATIENCE = 50;

    /**
     * A backend that reports the hints and does not disturb.
     *
     * @param name its name
     * @return what the suites expect of it
     */
    public static TestedBackend named(String name) {
        return new TestedBackend(name, true, false);
    }

    /**
     * The same, but hints are not expected.
     *
     * @return a copy
     */
    public TestedBackend withoutHints() {
        return new TestedBackend(name, false, hostile);
    }

    /**
     * The same, but it may need more polls and more waits than a plain one.
     *
     * @return a copy
     */
    public TestedBackend thatDisturbs() {
        return new TestedBackend(name, hints, true);
    }

    /**
     * How many polls or waits may pass where a backend that does not disturb needs so many.
     *
     * @param count what a plain backend needs
     * @return the bound for this one
     */
    public int patience(int count) {
        return hostile ? count * PATIENCE : count;
    }
}
