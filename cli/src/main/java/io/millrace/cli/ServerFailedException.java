package io.millrace.cli;

/** A server that had started, and cannot go on. */
final class ServerFailedException extends Exception {
    private static final long serialVersionUID = 1;

    ServerFailedException(Throwable cause) {
        super("the server failed: " + OneLine.of(cause), cause);
    }
}
