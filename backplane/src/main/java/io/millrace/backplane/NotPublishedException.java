package io.millrace.backplane;

import java.io.Serial;

/** A message was not acknowledged. Only after {@link Reason#UNKNOWN} may it have been delivered nevertheless. */
public final class NotPublishedException extends Exception {
    @Serial
    private static final long serialVersionUID = 1;

    /** Why there is no acknowledgement. */
    public enum Reason {
        /** Too much is waiting for its acknowledgement. Nothing was taken; try again later, or tell whoever sent it. */
        FULL,
        /** It is longer than allowed. */
        TOO_LONG,
        /** The engine is away, and the message was delivered to the subscribers of this node only. */
        LOCAL_ONLY,
        /** No node with this id is known. */
        NO_SUCH_NODE,
        /** The engine has refused it. */
        REFUSED,
        /** The engine ended, or was closed, while it was on its way: it may have been delivered, at most once. */
        UNKNOWN,
        /** The backplane was closed before it was sent. */
        CLOSED
    }

    /** Why there is no acknowledgement. */
    private final Reason reason;

    /**
     * For engines.
     *
     * @param reason why
     * @param message what happened, with a remedy if there is one
     */
    public NotPublishedException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /**
     * Returns why there is no acknowledgement.
     *
     * @return one of the constants
     */
    public Reason reason() {
        return reason;
    }
}
