package io.millrace.testkit;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/**
 * Collects what is logged to {@code io.millrace} while it is open. As with the handlers of the JDK, a record that
 * cannot be printed is lost; so what is here was really reported. Nothing of it appears on standard error.
 */
public final class Reports extends Handler implements AutoCloseable {
    private static final Logger LOGGER = Logger.getLogger("io.millrace");

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final SimpleFormatter formatter = new SimpleFormatter();
    private final boolean usedParents = LOGGER.getUseParentHandlers();

    /** Starts to listen. */
    public Reports() {
        setLevel(Level.INFO);
        LOGGER.addHandler(this);
        LOGGER.setUseParentHandlers(false);
    }

    @Override
    public void publish(LogRecord line) {
        if (!isLoggable(line)) {
            return;
        }
        try {
            lines.add(formatter.format(line));
        } catch (RuntimeException e) {
            // Lost, as in StreamHandler.
        }
    }

    /**
     * Returns how many records there were.
     *
     * @return a count
     */
    public int count() {
        return lines.size();
    }

    /** Waits until there are more records than before. */
    void awaitMoreThan(int before, String what) {
        Await.until("a report of " + what, () -> count() > before);
    }

    /**
     * Returns what was reported.
     *
     * @return human-readable lines
     */
    public List<String> lines() {
        return lines;
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        LOGGER.removeHandler(this);
        LOGGER.setUseParentHandlers(usedParents);
    }
}
