package io.millrace.bench.runner;

import io.millrace.bench.runner.ServerUnderLoad.Window;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** What idle connections weigh, what an active one costs among them, and how soon a server listens. */
final class MemorySuite implements Suite {
    private static final String C = "raw C epoll";
    private static final String EPOLL = "Millrace epoll";
    private static final String POLL = "Millrace poll";
    /** 8,000 take it 43 s, and four times as long for twice as many. */
    private static final int MOST_ON_POLL = 4_000;

    private static final int MOST_IDLE = 18_000;
    private static final int FEW_IDLE = 10;
    private static final int ACTIVE = 50;
    /** Files that a process needs beside its connections. */
    private static final int OTHER_FILES = 200;

    @Override
    public void run(Session session) throws IOException, InterruptedException {
        Native peers = Native.build(session);
        int idle = Math.min(session.settings().quick() ? 2_000 : MOST_IDLE, openFiles() - OTHER_FILES - ACTIVE);
        if (idle < MOST_IDLE) {
            session.print(String.format(
                    Locale.ROOT,
                    "memory: %,d idle connections, not %,d: %s",
                    idle,
                    MOST_IDLE,
                    session.settings().quick() ? "--quick" : "raise the limit of open files (ulimit -Hn)"));
        }
        start(session, peers);
        weight(session, peers, idle);
        activeAmongIdle(session, peers, idle);
    }

    /** The hard limit, to which both sides raise theirs. */
    private static int openFiles() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/limits"))) {
            return lines.filter(line -> line.startsWith("Max open files"))
                    .map(line -> line.split(" {2,}", -1)[2])
                    .mapToInt(limit -> limit.equals("unlimited") ? Integer.MAX_VALUE : Integer.parseInt(limit))
                    .findFirst()
                    .orElse(1024);
        }
    }

    private static List<ServerProgram> present(Session session, List<ServerProgram> servers) {
        List<ServerProgram> present = new ArrayList<>();
        for (ServerProgram server : servers) {
            if (server.missing() == null) {
                present.add(server);
            } else {
                session.absent(new Absent(server.name(), server.missing()));
            }
        }
        return present;
    }

    // ---- Start ----

    private static void start(Session session, Native peers) throws IOException, InterruptedException {
        Path home = session.settings().home();
        List<ServerProgram> servers = present(
                session,
                List.of(
                        jvm(home, EPOLL, true),
                        jvm(home, EPOLL + ", no AOT cache", false),
                        EchoServers.millrace(home, "epoll", 1).named("./millrace, shell and all"),
                        EchoServers.netty(home, "epoll", 1),
                        EchoServers.netty(home, "nio", 1),
                        EchoServers.nioByHand(home),
                        EchoServers.c(peers, 1)));
        List<Candidate> candidates = new ArrayList<>();
        servers.forEach(server -> candidates.add(new StartUp(server, session)));
        session.compare(
                new Comparison(
                        "start",
                        "from the start of the process until it listens, all cores",
                        EPOLL,
                        List.of(Column.compared("startMillis", "ms", 0)),
                        candidates,
                        List.of(Target.atMost(400, "startMillis", EPOLL))),
                session.settings().rounds(5, 10));
    }

    /** What the launcher starts, without the launcher, so that the time counts from the start of the JVM; with what it wrote down of an earlier start, or without. */
    private static ServerProgram jvm(Path home, String name, boolean cached) {
        Path cache = home.resolve("cli/target/millrace.aot");
        List<String> command = new ArrayList<>(List.of(Tools.jdk("java"), ServerProgram.COLLECTOR));
        if (cached && Files.exists(cache)) {
            command.addAll(List.of("-XX:AOTCache=" + cache, "-Xlog:aot=off,cds=off"));
        }
        command.addAll(List.of("--enable-native-access=io.millrace.sys", "-p"));
        command.addAll(List.of(home.resolve("cli/target/lib").toString(), "-m"));
        command.addAll(List.of("io.millrace.cli/io.millrace.cli.Main", "serve", "echo", "--port", "0", "--loops", "1"));
        return ServerProgram.jvm(name, command, 1);
    }

    // ---- Weight ----

    private static void weight(Session session, Native peers, int idle) throws IOException, InterruptedException {
        Path home = session.settings().home();
        List<ServerProgram> servers = present(
                session,
                List.of(
                        EchoServers.millrace(home, "epoll", 1),
                        EchoServers.millrace(home, "poll", 1),
                        EchoServers.millrace(home, "nio", 1),
                        EchoServers.netty(home, "epoll", 1),
                        EchoServers.netty(home, "nio", 1),
                        EchoServers.nioByHand(home),
                        EchoServers.c(peers, 1)));
        List<Candidate> candidates = new ArrayList<>();
        for (ServerProgram server : servers) {
            if (server.name().equals(POLL) && idle > MOST_ON_POLL) {
                session.absent(new Absent(
                        POLL,
                        "poll(2) walks over all connections for each new one, so " + idle + " would take minutes"));
            } else {
                candidates.add(new IdleWeight(server, idle, session, IdleWeight.plainHolder(session), 0));
            }
        }
        session.compare(
                new Comparison(
                        "idle",
                        String.format(Locale.ROOT, "%,d idle connections: what each weighs in the server", idle),
                        EPOLL,
                        List.of(
                                Column.compared("heapBytes", "heap B", 0),
                                Column.shown("residentBytes", "resident B", 0),
                                Column.shown("heapBeforeKiB", "heap before, KiB", 0),
                                Column.shown("residentBeforeKiB", "resident before, KiB", 0)),
                        candidates,
                        List.of(Target.atMost(800, "heapBytes", EPOLL))),
                session.settings().rounds(1, 3));
    }

    // ---- An active one among idle ones ----

    private static void activeAmongIdle(Session session, Native peers, int idle)
            throws IOException, InterruptedException {
        Load load = Load.of(session, peers);
        Path home = session.settings().home();
        boolean quick = session.settings().quick();
        Window window = Window.of(quick, quick ? 3 : 15);
        String few = String.format(Locale.ROOT, ", %,d idle", FEW_IDLE);
        String many = String.format(Locale.ROOT, ", %,d idle", idle);
        try (Servers servers = new Servers(session)) {
            servers.start(List.of(
                    EchoServers.millrace(home, "epoll", 1),
                    EchoServers.c(peers, 1),
                    EchoServers.netty(home, "epoll", 1)));
            List<Candidate> candidates = new ArrayList<>();
            candidates.addAll(servers.candidates(load, among(FEW_IDLE), window, few));
            candidates.addAll(servers.candidates(load, among(idle), window, many));
            session.compare(
                    new Comparison(
                            "among-idle",
                            "echo of 64 B on " + ACTIVE + " connections among idle ones",
                            EPOLL + few,
                            List.of(
                                    Column.compared("cpuMicros", "CPU µs/msg", 2),
                                    Column.shown("userMicros", "user µs/msg", 2),
                                    Column.shown("messagesPerSecond", "msgs/s", 0)),
                            candidates,
                            List.of(
                                    Target.atMost(1.05, "cpuMicros", EPOLL + many, EPOLL + few),
                                    Target.atMost(1.05, "cpuMicros", C + many, C + few))),
                    session.settings().rounds(2, 10));
        }
    }

    private static Workload among(int idle) {
        return new Workload("echo", ACTIVE, 64, 1, List.of("--idle", Integer.toString(idle)));
    }
}
