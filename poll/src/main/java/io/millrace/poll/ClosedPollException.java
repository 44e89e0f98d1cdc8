package io.millrace.poll;

/** Thrown if a {@link Poll} is used after it was closed, or is closed during a wait. */
public final class ClosedPollException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    ClosedPollException(String doing) {
        super("cannot " + doing + ": the poll is closed; open another with Poll.open()");
    }
}
