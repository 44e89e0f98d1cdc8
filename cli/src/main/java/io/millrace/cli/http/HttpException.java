package io.millrace.cli.http;

/** A request that gets another answer than a file. */
final class HttpException extends Exception {
    private static final long serialVersionUID = 1;

    private final Status status;

    HttpException(Status status, String why) {
        super(why, null, false, false); // whoever sends nonsense should not make us walk the stack
        this.status = status;
    }

    Status status() {
        return status;
    }
}
