package io.millrace.bench.runner;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;

/**
 * The same programs of Netty's on its own transports and on ours: an echo, gRPC, and HTTP/1.1 asked by wrk. Each server has one
 * loop, on the first core; the load is on the last.
 */
final class NettySuite implements Suite {
    private static final List<String> TRANSPORTS = List.of("epoll", "millrace", "reactors", "io_uring", "nio");

    private static final List<Column> CALLS = List.of(
            Column.compared("cpuMicros", "CPU µs/msg", 1),
            Column.compared("messagesPerSecond", "msgs/s", 0),
            Column.shown("p99us", "p99 µs", 0));

    @Override
    public void run(Session session) throws IOException, InterruptedException {
        session.print("netty: " + Pinning.text());
        Path home = session.settings().home();
        boolean quick = session.settings().quick();
        Load load = Load.of(session, Native.build(session));
        try (Servers servers = new Servers(session)) {
            servers.start(programs(transport -> EchoServers.netty(home, transport, 1)));
            for (int connections : List.of(50, 1_000)) {
                Workload work = Workload.echo(connections);
                session.compare(
                        new Comparison(
                                "netty-echo-" + connections,
                                "echo of 64 B on Netty, " + connections + " connections",
                                "Netty epoll",
                                Load.MESSAGES,
                                servers.candidates(load, work, ServerUnderLoad.Window.of(quick, 15)),
                                targets()),
                        session.settings().rounds(3, 10));
            }
        }
        grpc(session, quick);
        if (AskedByWrk.isMissing(session, "HTTP on Netty")) {
            return;
        }
        try (Servers servers = new Servers(session)) {
            servers.start(programs(transport -> EchoServers.nettyHttp(home, transport)));
            session.compare(
                    new Comparison(
                            "netty-http",
                            "HTTP/1.1 plaintext on Netty, 50 connections",
                            "Netty epoll",
                            AskedByWrk.COLUMNS,
                            servers.askedByWrk("/plaintext", quick ? 2 : 3),
                            targets()),
                    session.settings().rounds(3, 10));
        }
    }

    /** Its own client asks, in a process that is new each time, and warms itself up. */
    private static void grpc(Session session, boolean quick) throws IOException, InterruptedException {
        Path home = session.settings().home();
        List<String> client =
                ServerProgram.joined(ServerProgram.java(home), List.of("io.millrace.bench.peers.GrpcLoad"));
        try (Servers servers = new Servers(session)) {
            servers.start(programs(transport -> EchoServers.grpc(home, transport)));
            for (String mode : List.of("unary", "stream")) {
                List<String> load = ServerProgram.joined(
                        client, List.of("--mode", mode, "--connections", "10", "--depth", "10", "--bytes", "64"));
                session.compare(
                        new Comparison(
                                "netty-grpc-" + mode,
                                mode.equals("unary")
                                        ? "gRPC, unary calls of 64 B, 10 connections with 10 calls each"
                                        : "gRPC, streams of messages of 64 B, 10 connections with 10 messages under way each",
                                "gRPC, Netty epoll",
                                CALLS,
                                servers.under(load, quick ? 2 : 3),
                                List.of(
                                        Target.atMost(1.0, "cpuMicros", "gRPC, Netty millrace", "gRPC, Netty epoll"),
                                        Target.atMost(1.0, "cpuMicros", "gRPC, Netty reactors", "gRPC, Netty epoll"))),
                        session.settings().rounds(3, 10));
            }
        }
    }

    private static List<ServerProgram> programs(Function<String, ServerProgram> program) {
        return TRANSPORTS.stream().map(program).toList();
    }

    private static List<Target> targets() {
        return List.of(
                Target.atMost(1.0, "cpuMicros", "Netty millrace", "Netty epoll"),
                Target.atMost(1.0, "cpuMicros", "Netty reactors", "Netty epoll"));
    }
}
