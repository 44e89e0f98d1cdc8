package io.millrace.cli;

/** A server was started but cannot continue. */
final class ServerFailedException extends Exception {
    private static final long serialVersionUID = 1;

    ServerFailedException(Throwable cause) {
        super("the server failed: " + OneLine.of(cause), cause);
    }
}
