package io.millrace.server;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A connection was ended, turned away or not accepted because of a limit, not because of its peer. The message says which, and what to do. */
final class LimitException extends IOException {
    private static final long serialVersionUID = 1;

    private final ConnectionLog.Kind kind;

    LimitException(ConnectionLog.Kind kind, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    /** A connection was ended. */
    LimitException(String message) {
        this(ConnectionLog.Kind.LIMIT, message, null);
    }

    ConnectionLog.Kind kind() {
        return kind;
    }
}
