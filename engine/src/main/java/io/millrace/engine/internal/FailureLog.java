package io.millrace.engine.internal;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneId;

/**
 * Where failures of user code are reported that have no handler of their own. Nothing it is given can make it fail: not a {@code toString} or {@code getMessage} that throws, not a
 * logger that throws, not a full heap. So whoever catches a {@code Throwable} at a boundary and hands it over here has contained it (end-1).
 *
 * <p>Three attempts, each needing less than the one before: the logger with the failure and its stack; the logger with the name of the failure's class; a line that was made when
 * this class was loaded, written straight to standard error, which needs no memory.
 */
public final class FailureLog {
    private static final System.Logger LOGGER = System.getLogger("io.millrace");

    private static final byte[] LAST_WORDS =
            ("millrace: something failed, and so did the report of it (the heap may be full); everything else goes on"
                            + System.lineSeparator())
                    .getBytes(StandardCharsets.UTF_8);

    @SuppressWarnings("resource") // standard error is not ours to close
    private static final FileOutputStream STANDARD_ERROR = new FileOutputStream(FileDescriptor.err);

    private FailureLog() {}

    /**
     * Loads this class, the logger and what a log line needs while there are memory and descriptors for it: a class whose first use fails can never be used again. A line has the time in it, and for the rules of
     * time zones the JDK opens a file when they are first needed; if it cannot, no logger and nobody else in this process can tell the time any more. By whatever has a boundary, before it runs user code. Does not fail.
     */
    public static void prepare() {
        prepare(LOGGER);
    }

    static void prepare(System.Logger logger) {
        try {
            var ignored = ZoneId.systemDefault().getRules().getOffset(Instant.now());
            isPrintable(new Throwable());
            logger.isLoggable(Level.ERROR);
        } catch (Throwable e) {
            // A logger of the user's. What is to be reported with it later will be tried all the same.
        }
    }

    /**
     * Reports that user code failed and that nothing else is affected.
     *
     * @param what failed: named by its {@code toString}
     * @param cause what it threw
     */
    public static void report(Object what, Throwable cause) {
        report(what, "failed; everything else goes on", cause);
    }

    /**
     * Reports a failure.
     *
     * @param what failed: named by its {@code toString}
     * @param outcome the rest of the sentence
     * @param cause what it threw
     */
    public static void report(Object what, String outcome, Throwable cause) {
        try {
            if (isPrintable(cause)) {
                LOGGER.log(Level.ERROR, name(what) + " " + outcome, cause);
            } else {
                reportByName(what, outcome, cause);
            }
        } catch (Throwable first) {
            try {
                reportByName(what, outcome, cause);
            } catch (Throwable second) {
                lastWords();
            }
        }
    }

    /**
     * Reports that an error handler of the user's failed itself.
     *
     * @param what the handler
     * @param cause what it threw
     * @param handled what it was told of, which would be lost otherwise
     */
    @SuppressWarnings("ReferenceEquality") // a failure cannot be suppressed by itself
    public static void report(Object what, Throwable cause, Throwable handled) {
        try {
            if (cause != handled) {
                cause.addSuppressed(handled);
            }
        } catch (Throwable e) {
            // No memory for that.
        }
        report(what, cause);
    }

    private static void reportByName(Object what, String outcome, Throwable cause) {
        LOGGER.log(
                Level.ERROR,
                name(what) + " " + outcome + ": " + cause.getClass().getName() + ", which cannot be printed");
    }

    /** Loggers print all of it, causes and what was suppressed, and drop the record if that throws. */
    private static boolean isPrintable(Throwable cause) {
        try {
            cause.printStackTrace(new PrintWriter(Writer.nullWriter()));
            return true;
        } catch (Throwable e) {
            return false;
        }
    }

    /**
     * Logs a warning.
     *
     * @param message what happened
     */
    public static void warn(String message) {
        try {
            LOGGER.log(Level.WARNING, message);
        } catch (Throwable e) {
            lastWords();
        }
    }

    /**
     * The {@code toString} of something of the user's, or its class if that throws.
     *
     * @param what anything
     * @return never null
     */
    public static String name(Object what) {
        try {
            return String.valueOf(what);
        } catch (Throwable e) {
            return what.getClass().getName() + " (its toString throws "
                    + e.getClass().getName() + ")";
        }
    }

    private static void lastWords() {
        try {
            STANDARD_ERROR.write(LAST_WORDS);
        } catch (Throwable e) {
            // Standard error is closed. There is nobody left to tell.
        }
    }
}
