package io.millrace.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/**
 * Describes a failure in one line. Our own messages say all that is needed; for others, the type of the exception and
 * its cause are added.
 */
final class OneLine {
    private static final int DEEPEST = 100;

    private OneLine() {}

    static String of(Throwable failure) {
        Throwable shown = unwrap(failure);
        String text = isMeantForUsers(shown) ? String.valueOf(shown.getMessage()) : shown.toString();
        String root = root(shown).getMessage();
        if (root != null && !text.contains(root)) {
            text += ", because of " + root(shown);
        }
        return joined(text);
    }

    /** Joins several lines into one. */
    static String joined(String text) {
        return text.strip().replaceAll("\\s*\\R\\s*", "; ");
    }

    /** Returns the cause of an exception that merely wraps another. */
    private static Throwable unwrap(Throwable failure) {
        Throwable at = failure;
        while (at instanceof UncheckedIOException
                || at instanceof CompletionException
                || at instanceof ExecutionException) {
            Throwable cause = at.getCause();
            if (cause == null) {
                break;
            }
            at = cause;
        }
        return at;
    }

    private static boolean isMeantForUsers(Throwable failure) {
        return failure.getMessage() != null
                && (failure instanceof UsageException
                        || failure instanceof ServerFailedException
                        || failure instanceof IOException
                        || failure instanceof IllegalArgumentException
                        || failure instanceof IllegalStateException);
    }

    private static Throwable root(Throwable failure) {
        Throwable at = failure;
        for (int depth = 0; depth < DEEPEST; depth++) { // causes may form a cycle
            Throwable cause = at.getCause();
            if (cause == null) {
                break;
            }
            at = cause;
        }
        return at;
    }
}
