package io.millrace.bench.runner;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The relays that are measured: each passes its connections on to a server on a port of this machine, with one thread. */
final class Relays {
    static final String C = "raw C epoll";
    static final String SPLICE = "raw C splice(2)";
    static final String MILLRACE = "Millrace epoll";
    static final String HAPROXY = "HAProxy";
    static final String SOCAT = "socat";

    private static final String LOOPBACK = "127.0.0.1:";

    private Relays() {}

    static ServerProgram c(Native peers, int upstream, String... more) {
        List<String> arguments = List.of("--port", "0", "--upstream", Integer.toString(upstream));
        return ServerProgram.compiled(peers, C, "relay_epoll", 1, ServerProgram.joined(arguments, List.of(more)));
    }

    static ServerProgram splice(Native peers, int upstream) {
        return c(peers, upstream, "--splice", "1").named(SPLICE);
    }

    static ServerProgram millrace(Path home, int upstream) {
        return ServerProgram.launched(
                home, MILLRACE, 1, "proxy", LOOPBACK + 0, LOOPBACK + upstream, "--loops", "1", "--backend", "epoll");
    }

    /**
     * HAProxy in TCP mode, with the buffers of 16 KiB that it has unless told otherwise.
     *
     * @param tool where the program is; empty if it is not installed
     * @param config where {@link #haproxyConfig} was written
     */
    static ServerProgram haproxy(Optional<Path> tool, int port, Path config) {
        return tool.map(path -> ServerProgram.installed(
                        HAPROXY, port, List.of(path.toString(), "-db", "-f", config.toString())))
                .orElse(ServerProgram.notInstalled(HAPROXY, "haproxy"));
    }

    /** No connection may time out while it is measured. */
    static String haproxyConfig(int port, int upstream) {
        return """
            global
                nbthread 1
                maxconn 4000

            defaults
                mode tcp
                timeout connect 10s
                timeout client 1h
                timeout server 1h

            listen relay
                bind 127.0.0.1:%d
                maxconn 4000
                server upstream 127.0.0.1:%d
            """.formatted(port, upstream);
    }

    /**
     * socat(1), with a process for each connection and the buffer of the C relay: its own 8 KiB would make it look worse than it is. Its backlog of 5 is too short for
     * connections that are opened at once.
     *
     * @param tool where the program is; empty if it is not installed
     */
    static ServerProgram socat(Optional<Path> tool, int port, int upstream) {
        return tool.map(path -> {
                    List<String> command = new ArrayList<>(List.of(path.toString(), "-b", "65536"));
                    command.add("TCP-LISTEN:" + port + ",bind=127.0.0.1,fork,reuseaddr,backlog=128,nodelay");
                    command.add("TCP:" + LOOPBACK + upstream + ",nodelay");
                    return ServerProgram.installed(SOCAT, port, command);
                })
                .orElse(ServerProgram.notInstalled(SOCAT, "socat"));
    }
}
