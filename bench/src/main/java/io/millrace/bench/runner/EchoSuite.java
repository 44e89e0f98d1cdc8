package io.millrace.bench.runner;

import io.millrace.bench.runner.ServerUnderLoad.Window;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;

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

    @Override
    public void run(Session session) throws IOException, InterruptedException {
        session.print("echo: " + Pinning.text());
        Native peers = Native.build(session);
        Load load = Load.of(session, peers);
        boolean quick = session.settings().quick();
        List<ServerProgram> servers = EchoServers.all(session.settings().home(), peers);
        List<ServerProgram> chosen = servers.stream()
                .filter(server -> !quick || QUICK.contains(server.name()))
                .toList();
        if (chosen.size() < servers.size()) {
            session.print("left out by --quick: "
                    + String.join(
                            ", ",
                            servers.stream()
                                    .filter(server -> !chosen.contains(server))
                                    .map(ServerProgram::name)
                                    .toList()));
        }
        try (Servers started = new Servers(session)) {
            started.start(chosen);
            messages(session, started, load, quick);
            if (!quick) {
                bulk(session, started, peers, load);
            }
        }
        if (quick) {
            session.print("left out by --quick: 10,000 connections, bulk, a spinning server, two loops, files");
        } else {
            spinning(session, peers, load);
            loops(session, peers, load);
            files(session, peers, load);
        }
    }

    /** Bytes in flight all the time, in pieces of two sizes. Ours reads more at once than the C server of the other comparisons; so there is one that reads as much. */
    private static void bulk(Session session, Servers servers, Native peers, Load load)
            throws IOException, InterruptedException {
        try (Servers more = new Servers(session)) {
            more.start(List.of(EchoServers.c(peers, 1, "--buffer", "256").named(C + ", 256 KiB")));
            bulk(session, servers, more, load);
        }
    }

    private static void bulk(Session session, Servers servers, Servers more, Load load)
            throws IOException, InterruptedException {
        Window window = Window.of(false, 10);
        for (int kib : List.of(16, 1_024)) {
            Workload work = new Workload("stream", kib == 16 ? 16 : 4, kib * 1_024, 1, List.of());
            session.compare(
                    new Comparison(
                            "bulk-" + kib,
                            "bulk echo, " + (kib == 16 ? "16 KiB on 16 connections" : "1 MiB on 4 connections"),
                            C,
                            Load.PIECES,
                            Stream.concat(
                                            servers.candidates(load, work, window).stream(),
                                            more.candidates(load, work, window).stream())
                                    .toList(),
                            List.of(Target.atLeast(0.98, "megabytesPerSecond", EPOLL, C))),
                    session.settings().rounds(3, 10));
        }
    }

    /** One connection, one message: what counts is how fast a loop sees it. No Netty that spins: it would never stop, and take the core from the others between its turns. */
    private static void spinning(Session session, Native peers, Load load) throws IOException, InterruptedException {
        Path home = session.settings().home();
        String spinningC = C + ", spin 100 µs";
        String spinning = EPOLL + ", spin 100 µs";
        try (Servers servers = new Servers(session)) {
            servers.start(List.of(
                    EchoServers.c(peers, 1, "--spin", "100").named(spinningC),
                    EchoServers.millrace(home, "epoll", 1, "--spin", "100").named(spinning),
                    EchoServers.c(peers, 1),
                    EchoServers.millrace(home, "epoll", 1),
                    EchoServers.netty(home, "epoll", 1)));
            Workload work = new Workload("echo", 1, 64, 1, List.of("--spin", "1000"));
            session.compare(
                    new Comparison(
                            "ping-pong",
                            "echo of 64 B, one connection; the load spins",
                            spinningC,
                            List.of(
                                    Column.compared("p50us", "p50 µs", 1),
                                    Column.compared("messagesPerSecond", "msgs/s", 0),
                                    Column.shown("p99us", "p99 µs", 1),
                                    Column.shown("p999us", "p99.9 µs", 1),
                                    Column.shown("cpuMicros", "CPU µs/msg", 2)),
                            servers.candidates(load, work, Window.of(false, 15)),
                            List.of(Target.atMost(1.10, "p50us", spinning, spinningC))),
                    session.settings().rounds(3, 10));
        }
    }

    /** Servers with two loops have a core more than those with one; on a machine with two cores it is the one of the load. */
    private static void loops(Session session, Native peers, Load load) throws IOException, InterruptedException {
        Path home = session.settings().home();
        try (Servers servers = new Servers(session)) {
            servers.start(List.of(
                    EchoServers.millrace(home, "epoll", 1),
                    EchoServers.millrace(home, "epoll", 2).named(EPOLL + ", 2 loops"),
                    EchoServers.c(peers, 1),
                    EchoServers.c(peers, 2).named(C + ", 2 loops"),
                    EchoServers.netty(home, "epoll", 1),
                    EchoServers.netty(home, "epoll", 2).named(NETTY + ", 2 loops")));
            session.compare(
                    new Comparison(
                            "loops",
                            "echo of 64 B, 1,000 connections, one loop and two",
                            EPOLL,
                            Load.MESSAGES,
                            servers.candidates(load, Workload.echo(1_000), Window.of(false, 15)),
                            List.of(
                                    Target.atMost(1.05, "cpuMicros", EPOLL + ", 2 loops", EPOLL),
                                    Target.atMost(1.05, "cpuMicros", C + ", 2 loops", C))),
                    session.settings().rounds(3, 10));
        }
    }

    private static void files(Session session, Native peers, Load load) throws IOException, InterruptedException {
        Path home = session.settings().home();
        Path file = Files.write(session.log("file").resolveSibling("file.bin"), content());
        String sendfile = "C sendfile(2)";
        try (Servers servers = new Servers(session)) {
            servers.start(List.of(
                    EchoServers.c(peers, 1, "--file", file.toString()).named(sendfile),
                    EchoServers.sendFile(home, "epoll", file),
                    EchoServers.sendFile(home, "nio", file)));
            Workload work = new Workload("file", 4, 64, 1, List.of("--file", file.toString()));
            session.compare(
                    new Comparison(
                            "file",
                            "a file of 1 MiB on 4 connections",
                            sendfile,
                            Load.PIECES,
                            servers.candidates(load, work, Window.of(false, 10)),
                            List.of(Target.atLeast(0.98, "megabytesPerSecond", EPOLL, sendfile))),
                    session.settings().rounds(3, 10));
        }
    }

    private static byte[] content() {
        byte[] content = new byte[1 << 20];
        new Random(42).nextBytes(content);
        return content;
    }

    private static void messages(Session session, Servers servers, Load load, boolean quick)
            throws IOException, InterruptedException {
        int rounds = session.settings().rounds(3, 10);
        int warmUps = quick ? 3 : 20;
        for (int connections : quick ? List.of(50, 1_000) : List.of(50, 1_000, 10_000)) {
            Window window = Window.of(quick, warmUps);
            warmUps = quick ? 2 : 10; // the same code, now warm
            Workload work = Workload.echo(connections);
            session.compare(
                    new Comparison(
                            "echo-" + connections,
                            String.format(Locale.ROOT, "echo of 64 B, %,d connections", connections),
                            C,
                            Load.MESSAGES,
                            servers.candidates(load, work, window),
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
