package io.millrace.bench.runner;

import java.util.ArrayList;
import java.util.List;

/**
 * What the load generator does.
 *
 * @param mode echo, stream, file or handshake
 * @param connections how many
 * @param bytes of a message
 * @param depth messages in flight on a connection
 * @param more arguments
 */
record Workload(String mode, int connections, int bytes, int depth, List<String> more) {
    static Workload echo(int connections) {
        return new Workload("echo", connections, 64, 1, List.of());
    }

    /** Of a window while it warms up. A JVM's first handshakes take it the better part of a second. */
    int warmUpSeconds() {
        return mode.equals("handshake") ? 3 : 1;
    }

    List<String> arguments() {
        List<String> arguments = new ArrayList<>(List.of(
                "--mode",
                mode,
                "--connections",
                Integer.toString(connections),
                "--bytes",
                Integer.toString(bytes),
                "--depth",
                Integer.toString(depth)));
        arguments.addAll(more);
        return arguments;
    }
}
