package io.millrace.bench.runner;

import io.millrace.bench.runner.ServerUnderLoad.Window;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Blocking code on virtual threads: {@code ./millrace serve echo --style direct} beside the JDK's sockets, our callbacks and others; a server that asks another one for each
 * request; and what a conversation weighs that waits.
 */
final class DirectSuite implements Suite {
    private static final String C = "raw C epoll";
    private static final String JDK = "JDK sockets, virtual threads";
    private static final String CALLBACKS = "Millrace callbacks";
    private static final String DIRECT = "Millrace direct";
    private static final String ELSEWHERE = "Millrace direct, no loop threads";
    private static final String VIRTUAL = "Millrace dispatch virtual";
    /** Who takes part when time is short. */
    private static final Set<String> QUICK = Set.of(C, JDK, CALLBACKS, DIRECT, ELSEWHERE);

    private static final int IDLE = 10_000;
    /** The buffer of each conversation of an echo, which is its own code's: an array of 8 KiB. */
    private static final double BUFFER = 8192 + 16;

    @Override
    public void run(Session session) throws IOException, InterruptedException {
        session.print("direct: " + Pinning.text());
        Native peers = Native.build(session);
        Load load = Load.of(session, peers);
        boolean quick = session.settings().quick();
        boolean few = quick && session.settings().only() == null; // what somebody asks for by its name is not left out
        echo(session, peers, load, few ? List.of(50, 1_000) : List.of(50, 1_000, 10_000));
        downstream(session, peers, load, few ? List.of(50) : List.of(50, 1_000));
        weight(session, peers, quick ? 1_000 : IDLE);
        if (few) {
            session.print("left out by --quick: dispatch virtual, Netty, 10,000 connections");
        }
    }

    // ---- Echo ----

    private static List<ServerProgram> echoServers(Path home, Native peers) {
        return List.of(
                EchoServers.c(peers, 1),
                EchoServers.sockets(home),
                EchoServers.millrace(home, CALLBACKS, List.of()),
                EchoServers.millrace(home, DIRECT, List.of("--style", "direct")),
                EchoServers.millrace(home, ELSEWHERE, List.of("--style", "direct", "--no-loop-threads")),
                EchoServers.millrace(home, VIRTUAL, List.of("--dispatch", "virtual")),
                EchoServers.netty(home, "epoll", 1));
    }

    private static void echo(Session session, Native peers, Load load, List<Integer> sizes)
            throws IOException, InterruptedException {
        boolean quick = session.settings().quick();
        try (Servers servers = new Servers(session)) {
            if (sizes.stream().anyMatch(size -> session.settings().isWanted("echo-" + size))) {
                servers.start(echoServers(session.settings().home(), peers).stream()
                        .filter(server -> !quick || QUICK.contains(server.name()))
                        .toList());
            }
            int warmUps = quick ? 3 : 20;
            for (int connections : sizes) {
                Window window = Window.of(quick, warmUps);
                session.compare(
                        new Comparison(
                                "echo-" + connections,
                                String.format(Locale.ROOT, "echo of 64 B, %,d connections", connections),
                                C,
                                Load.MESSAGES,
                                servers.candidates(load, Workload.echo(connections), window),
                                targets(connections)),
                        session.settings().rounds(2, 10));
                if (session.settings().isWanted("echo-" + connections)) {
                    warmUps = quick ? 2 : 10; // the same code, now warm
                }
            }
        }
    }

    private static List<Target> targets(int connections) {
        List<Target> targets = new ArrayList<>();
        if (connections <= 1_000) {
            boolean few = connections <= 50;
            targets.add(Target.atMost(few ? 1.15 : 1.25, "cpuMicros", DIRECT, C));
            targets.add(Target.atMost(few ? 0.85 : 0.75, "cpuMicros", DIRECT, JDK));
        }
        return targets;
    }

    // ---- A call for each request ----

    private static void downstream(Session session, Native peers, Load load, List<Integer> sizes)
            throws IOException, InterruptedException {
        ServerProgram behind = ServerProgram.compiled(
                peers, "the server behind them", "echo_delay", 1, List.of("--port", "0", "--micros", "1000"));
        if (sizes.stream().noneMatch(size -> session.settings().isWanted("downstream-" + size))) {
            sizes.forEach(size -> session.leaveOut("downstream-" + size));
            return;
        }
        if (behind.missing() != null) {
            session.absent(new Absent(behind.name() + ", so all of downstream", behind.missing()));
            return;
        }
        Path home = session.settings().home();
        boolean quick = session.settings().quick();
        try (Server answering = behind.startBesideLoad(session);
                Servers servers = new Servers(session)) {
            int port = answering.port();
            List<ServerProgram> programs = new ArrayList<>(List.of(
                    Relays.c(peers, port).named("raw C epoll, a relay"),
                    EchoServers.downstream(home, JDK, "sockets", port),
                    EchoServers.downstream(home, DIRECT, "direct", port),
                    EchoServers.downstream(home, ELSEWHERE, "direct-elsewhere", port),
                    EchoServers.downstream(home, CALLBACKS, "callbacks", port)));
            if (quick) {
                programs.removeIf(program -> program.name().equals(ELSEWHERE));
            }
            servers.start(programs);
            int warmUps = quick ? 3 : 20;
            for (int connections : sizes) {
                session.compare(
                        new Comparison(
                                "downstream-" + connections,
                                String.format(
                                        Locale.ROOT,
                                        "64 B with a call of 1 ms to another server for each, %,d connections",
                                        connections),
                                "raw C epoll, a relay",
                                Load.MESSAGES,
                                servers.candidates(load, Workload.echo(connections), Window.of(quick, warmUps)),
                                List.of()),
                        session.settings().rounds(2, 10));
                warmUps = quick ? 2 : 10;
            }
        }
    }

    // ---- Weight ----

    private static void weight(Session session, Native peers, int idle) throws IOException, InterruptedException {
        Path home = session.settings().home();
        IdleWeight.Holder holder = peers.missing("load") == null
                ? IdleWeight.nativeHolder(peers, "load")
                : IdleWeight.plainHolder(session);
        List<Candidate> candidates = new ArrayList<>();
        for (ServerProgram server : echoServers(home, peers)) {
            switch (server.name()) {
                case JDK, DIRECT, ELSEWHERE -> candidates.add(new IdleWeight(server, idle, session, holder, BUFFER));
                case CALLBACKS -> candidates.add(new IdleWeight(server, idle, session, holder, 0));
                default -> {}
            }
        }
        session.compare(
                new Comparison(
                        "idle",
                        String.format(
                                Locale.ROOT,
                                "%,d idle conversations: what each weighs in the server, and without stack and buffer",
                                idle),
                        JDK,
                        List.of(
                                Column.compared("heapBytes", "heap B", 0),
                                Column.shown("stackBytes", "stack B", 0),
                                Column.shown("restBytes", "heap without stack and buffer B", 0),
                                Column.shown("residentBytes", "resident B", 0)),
                        candidates,
                        List.of(Target.atMost(2048, "restBytes", DIRECT))),
                session.settings().rounds(1, 5));
    }
}
