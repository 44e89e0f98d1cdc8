package io.millrace.server;

import java.io.IOException;

/** A connection was ended or turned away because of a limit of ours, not because of the network. Its message says which, and what to do. */
final class LimitException extends IOException {
    private static final long serialVersionUID = 1;

    LimitException(String message) {
        super(message);
    }
}
