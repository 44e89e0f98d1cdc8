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
 * Reports failures of user code that no other handler takes. Nothing can make it fail: not a {@code toString} or {@code
 * getMessage} that throws, not a logger that throws, not a full heap. So code that catches a {@code Throwable} at a
 * boundary and passes it on to here has contained it (end-1).
 *
 * <p>It makes up to three attempts, each of which needs less than the one before: the logger with the failure and its
 * stack; the logger with the class name of the failure; and a line that was prepared when this class was loaded,
 * written directly to standard error, which needs no memory.
 *
 * <p><b>A boundary needs no memory.</b> Neither does catching: but the JVM creates the string of a constant, and links a
 * call of a {@code VarHandle} or of a concatenation, when an instruction is executed for the first time, and for a
 * handler of exceptions that may be when the heap is full. What it throws then leaves the handler. So a handler that
 * must not fail calls a method of this class with objects that are there already, and does nothing else: a name is kept
 * in a field of type {@code Object}, which the compiler does not replace by the constant.
 */
public final class FailureLog {
    private static final System.Logger LOGGER = System.getLogger("io.millrace");

    private static final byte[] LAST_WORDS =
            ("millrace: something failed, and so did the report of it (the heap may be full); everything else goes on"
                            + System.lineSeparator())
                    .getBytes(StandardCharsets.UTF_8);

    @SuppressWarnings("resource") // standard error must not be closed
    private static final FileOutputStream STANDARD_ERROR = new FileOutputStream(FileDescriptor.err);

    private FailureLog() {}

    /**
     * Loads this class, the logger and what a log line needs while there is still memory and a descriptor for them: a
     * class whose first use fails can never be used again. A log line contains the time, and the JDK opens a file for
     * the time zone rules when they are first needed; if that fails, no code in this process can format local times any
     * more. Called by everything that has a boundary around user code, before it runs user code. Does not fail.
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
            // The user's logger threw. Later reports will try it all the same.
        }
    }

    /**
     * Reports that user code failed and that nothing else is affected.
     *
     * @param what the code that failed, named by its {@code toString}
     * @param cause what it threw
     */
    public static void report(Object what, Throwable cause) {
        try {
            report(what, "failed; everything else goes on", cause);
        } catch (Throwable e) {
            writeLastWords(); // there is no memory for the words above
        }
    }

    /**
     * Reports that something was ended, but not all that belongs to its end was done.
     *
     * @param what what has ended, named by its {@code toString}
     * @param cause why
     */
    public static void reportEnd(Object what, Throwable cause) {
        try {
            report(what, "could not end in order", cause);
        } catch (Throwable e) {
            writeLastWords();
        }
    }

    /**
     * Reports a failure. For a caller that may fail: its own words may need memory.
     *
     * @param what the code that failed, named by its {@code toString}
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
                writeLastWords();
            }
        }
    }

    /**
     * Reports that an error handler of the user failed itself.
     *
     * @param what what the error handler belongs to
     * @param cause what it threw
     * @param handled the failure that it was called with, which would be lost otherwise
     */
    @SuppressWarnings("ReferenceEquality") // a failure cannot be suppressed by itself
    public static void report(Object what, Throwable cause, Throwable handled) {
        try {
            if (cause != handled) {
                cause.addSuppressed(handled);
            }
        } catch (Throwable e) {
            // Not enough memory for that.
        }
        try {
            report("onError of " + name(what), "failed; everything else goes on", cause);
        } catch (Throwable e) {
            report(what, cause);
        }
    }

    private static void reportByName(Object what, String outcome, Throwable cause) {
        LOGGER.log(
                Level.ERROR,
                name(what) + " " + outcome + ": " + cause.getClass().getName() + ", which cannot be printed");
    }

    /**
     * Returns whether a logger could print the failure with its causes and suppressed exceptions; it drops the record
     * if that throws.
     */
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
            writeLastWords();
        }
    }

    /**
     * Returns the {@code toString} of an object, or its class if that throws.
     *
     * @param what any object
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

    private static void writeLastWords() {
        try {
            STANDARD_ERROR.write(LAST_WORDS);
        } catch (Throwable e) {
            // Standard error is closed; there is no way left to report it.
        }
    }
}
