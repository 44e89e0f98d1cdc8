package io.millrace.server.support;

import io.millrace.server.Connection;
import java.io.IOException;

/** A connection of a proxy is closed because there is none to the upstream server. Users see an {@link IOException}. */
public final class NotRelayedException extends IOException {
    private static final long serialVersionUID = 1;

    public NotRelayedException(Connection connection, Object upstream, Throwable cause) {
        super("closing " + connection + ", which cannot be relayed to " + upstream + ": " + cause.getMessage(), cause);
    }
}
