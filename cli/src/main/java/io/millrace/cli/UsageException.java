package io.millrace.cli;

/** Arguments that make no sense, in one line that says what to do. */
final class UsageException extends Exception {
    private static final long serialVersionUID = 1;

    UsageException(String message) {
        super(message);
    }
}
