package io.millrace.server;

import java.util.List;

/**
 * How the end of a server went.
 *
 * @param drained whether every connection had sent what it had to send before the deadline, and its handler was told of the end
 * @param cutOff the connections that were cut off at the deadline, and how many bytes each had left
 * @param remaining what has not ended yet because a handler does not return: connections, loops. It ends when the handler does return
 */
public record ShutdownResult(boolean drained, List<String> cutOff, List<String> remaining) {
    /** Copies the lists. */
    public ShutdownResult {
        cutOff = List.copyOf(cutOff);
        remaining = List.copyOf(remaining);
    }
}
