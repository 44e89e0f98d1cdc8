package io.millrace.poll;

/** A {@link Poll} was used after it was closed, or closed while it waited. */
public final class ClosedPollException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    ClosedPollException(String doing) {
        super("cannot " + doing + ": the poll is closed; open another with Poll.open()");
    }
}
