package io.millrace.bench.runner;

import io.millrace.bench.runner.EchoContestant.Window;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Echo servers: messages of 64 bytes on many connections, one connection and a spinning server, bulk, and a file.
 *
 * <p>Every server has one loop and is pinned to one core, the load to another. All are started once and stay; one that nobody talks to costs nothing.
 */
final class EchoSuite implements Suite {
    private static final String C = "raw C epoll";
    private static final String EPOLL = "Millrace epoll";
    private static final String NETTY = "Netty epoll";
    private static final String BY_HAND = "java.nio by hand";
    /** Who takes part when time is short. */
    private static final Set<String> QUICK = Set.of(C, EPOLL, "Millrace poll", "Millrace nio", NETTY, BY_HAND);

    private static final List<Column> COLUMNS = List.of(
            Column.compared("cpuMicros", "CPU µs/msg", 2),
            Column.compared("messagesPerSecond", "msgs/s", 0),
            Column.shown("userMicros", "user µs/msg", 2),
            Column.shown("p50us", "p50 µs", 0),
            Column.shown("p99us", "p99 µs", 0),
            Column.shown("p999us", "p99.9 µs", 0));

    @Override
    public void run(Session session) throws IOException, InterruptedException {
        session.print("echo: " + Pinning.text());
        Native peers = Native.build(session);
        Load load = Load.of(session, peers);
        boolean quick = session.settings().quick();
        List<EchoServer> servers = EchoServer.all(session.settings().home(), peers);
        List<EchoServer> chosen = servers.stream()
                .filter(server -> !quick || QUICK.contains(server.name()))
                .toList();
        if (chosen.size() < servers.size()) {
            session.print("left out by --quick: "
                    + String.join(
                            ", ",
                            servers.stream()
                                    .filter(server -> !chosen.contains(server))
                                    .map(EchoServer::name)
                                    .toList()));
        }
        try (Servers started = new Servers(session)) {
            started.start(chosen);
            messages(session, started, load, quick);
        }
    }

    private static void messages(Session session, Servers servers, Load load, boolean quick)
            throws IOException, InterruptedException {
        int rounds = session.settings().rounds(3, 10);
        int warmUps = quick ? 3 : 20;
        for (int connections : quick ? List.of(50, 1_000) : List.of(50, 1_000, 10_000)) {
            Window window = quick ? new Window(warmUps, 0, 2) : new Window(warmUps, 1, 3);
            warmUps = quick ? 2 : 10; // the same code, now warm
            Workload work = Workload.echo(connections);
            session.hold(
                    new Contest(
                            "echo-" + connections,
                            String.format(Locale.ROOT, "echo of 64 B, %,d connections", connections),
                            C,
                            COLUMNS,
                            servers.contestants(load, work, window),
                            targets(connections)),
                    rounds);
        }
    }

    private static List<Target> targets(int connections) {
        List<Target> targets = new ArrayList<>();
        targets.add(Target.atMost(1.05, "cpuMicros", EPOLL, C));
        if (connections <= 1_000) {
            boolean few = connections <= 50;
            targets.add(Target.atMost(few ? 0.95 : 0.85, "cpuMicros", EPOLL, NETTY));
            targets.add(Target.atLeast(few ? 1.03 : 1.10, "messagesPerSecond", EPOLL, NETTY));
            targets.add(Target.atMost(0.40, "userMicros", EPOLL));
            targets.add(Target.atMost(0.50, "userMicros", EPOLL, NETTY));
        }
        targets.add(Target.atMost(1.05, "cpuMicros", "Millrace nio", BY_HAND));
        return targets;
    }
}
