package io.millrace.cli;

/** The arguments are invalid; the message says in one line what to do. */
final class UsageException extends Exception {
    private static final long serialVersionUID = 1;

    UsageException(String message) {
        super(message);
    }
}
