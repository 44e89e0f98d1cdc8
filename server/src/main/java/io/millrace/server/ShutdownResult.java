package io.millrace.server;

import java.util.List;

/**
 * The result of shutting down a server or client.
 *
 * @param drained whether before the deadline every connection had sent its pending output and its {@code onDisconnect}
 *     had returned. A connection that had sent everything and was only waiting for its peer to close counts as drained
 * @param cutOff the connections that ended with unsent bytes and how many bytes, whether because of the deadline, a
 *     timeout, a limit, an abort or the peer; and the connections that have not ended because a handler does not return
 * @param remaining the connections and loops that have not ended because a handler does not return. They end when it
 *     returns
 */
public record ShutdownResult(boolean drained, List<String> cutOff, List<String> remaining) {
    /** Copies the lists. */
    public ShutdownResult {
        cutOff = List.copyOf(cutOff);
        remaining = List.copyOf(remaining);
    }
}
