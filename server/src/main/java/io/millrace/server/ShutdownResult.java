package io.millrace.server;

import java.util.List;

/**
 * How the end of a server went.
 *
 * @param drained whether every connection had sent what it had to send before the deadline, and its handler was told of the end. One that had, and whose peer was only waited for to end too, has drained
 * @param cutOff the connections that ended before they had sent all, at a deadline or because of a timeout, a limit, an abort or the peer, and how many bytes each had left; and those that have not ended because a handler does not return
 * @param remaining what has not ended yet because a handler does not return: connections, loops. It ends when the handler does return
 */
public record ShutdownResult(boolean drained, List<String> cutOff, List<String> remaining) {
    /** Copies the lists. */
    public ShutdownResult {
        cutOff = List.copyOf(cutOff);
        remaining = List.copyOf(remaining);
    }
}
