package io.millrace.testkit;

/**
 * A backend, and what a suite may expect of it.
 *
 * @param name what is passed to {@code Poll.builder().backend(…)}, and what {@code poll.backend()} must return
 * @param hints whether it reports READ_CLOSED, WRITE_CLOSED and ERROR; only READABLE and WRITABLE are required of all
 * @param hostile whether it causes trouble on purpose: it returns fewer events than it could, and wakes up for no
 *     reason
 */
public record TestedBackend(String name, boolean hints, boolean hostile) {
    private static final int PATIENCE = 50;

    /**
     * Returns a backend that reports the hints and is not hostile.
     *
     * @param name its name
     * @return what the suites expect of it
     */
    public static TestedBackend named(String name) {
        return new TestedBackend(name, true, false);
    }

    /**
     * Returns a copy of which hints are not expected.
     *
     * @return a copy
     */
    public TestedBackend withoutHints() {
        return new TestedBackend(name, false, hostile);
    }

    /**
     * Returns a copy that may need more polls and more waits than usual.
     *
     * @return a copy
     */
    public TestedBackend thatDisturbs() {
        return new TestedBackend(name, hints, true);
    }

    /**
     * Returns how many polls or waits may pass if a backend that is not hostile needs {@code count}.
     *
     * @param count what a plain backend needs
     * @return the limit for this one
     */
    public int patience(int count) {
        return hostile ? count * PATIENCE : count;
    }
}
