package io.millrace.bench.runner;

import io.millrace.bench.runner.ServerUnderLoad.Window;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Relays before an echo server: {@code ./millrace proxy} beside a relay in C, HAProxy and socat.
 *
 * <p>Each relay has one thread, or a process for each connection, and is pinned to the first core. The load and the echo server behind the relays, in C, share the last. So
 * throughput has both cores in it, and it is the CPU of the relay that tells what a relay costs.
 */
final class RelaySuite implements Suite {
    /** socat forks for each connection. */
    private static final int MOST_FOR_SOCAT = 100;

    @Override
    public void run(Session session) throws IOException, InterruptedException {
        session.print("relay: " + Pinning.text() + ", with the server behind the relays");
        Native peers = Native.build(session);
        ServerProgram echo = EchoServers.c(peers, 1).named("the echo server behind the relays");
        if (echo.missing() != null) {
            session.absent(new Absent(echo.name() + ", so all of relay", echo.missing()));
            return;
        }
        Load load = Load.of(session, peers);
        try (Server upstream = echo.startBesideLoad(session);
                Servers relays = new Servers(session)) {
            relays.start(programs(session, peers, upstream.port()));
            messages(session, relays, load);
            pieces(session, relays, load);
        }
    }

    private static List<ServerProgram> programs(Session session, Native peers, int upstream) throws IOException {
        int haproxyPort = Server.freePort();
        Path config = session.log(Relays.HAPROXY).resolveSibling("haproxy.cfg");
        Files.createDirectories(config.getParent());
        Files.writeString(config, Relays.haproxyConfig(haproxyPort, upstream));
        List<ServerProgram> programs = new ArrayList<>();
        programs.add(Relays.c(peers, upstream));
        programs.add(Relays.splice(peers, upstream));
        programs.add(Relays.millrace(session.settings().home(), upstream));
        programs.add(Relays.haproxy(Tools.find("haproxy"), haproxyPort, config));
        programs.add(Relays.socat(Tools.find("socat"), Server.freePort(), upstream));
        return programs;
    }

    private static void messages(Session session, Servers relays, Load load) throws IOException, InterruptedException {
        boolean quick = session.settings().quick();
        int warmUps = quick ? 3 : 20;
        for (int connections : List.of(50, 1_000)) {
            Workload work = Workload.echo(connections);
            List<Candidate> candidates = relays.candidates(load, work, Window.of(quick, warmUps));
            if (connections > MOST_FOR_SOCAT
                    && candidates.removeIf(candidate -> candidate.name().equals(Relays.SOCAT))) {
                session.print(String.format(
                        Locale.ROOT, "left out: socat with %,d connections, a process for each", connections));
            }
            warmUps = quick ? 2 : 10; // the same code, now warm
            session.compare(
                    new Comparison(
                            "relay-" + connections,
                            String.format(Locale.ROOT, "relayed echo of 64 B, %,d connections", connections),
                            Relays.C,
                            Load.MESSAGES,
                            candidates,
                            List.of(Target.atLeast(0.98, "messagesPerSecond", Relays.MILLRACE, Relays.C))),
                    session.settings().rounds(3, 10));
        }
    }

    /** Bytes in flight all the time: as many as the C relay reads at once, so that the size of a buffer decides nothing. */
    private static void pieces(Session session, Servers relays, Load load) throws IOException, InterruptedException {
        boolean quick = session.settings().quick();
        Workload work = new Workload("stream", 4, 64 * 1_024, 1, List.of());
        session.compare(
                new Comparison(
                        "relay-stream",
                        "relayed stream, 64 KiB in flight on each of 4 connections",
                        Relays.C,
                        Load.PIECES,
                        relays.candidates(load, work, Window.of(quick, quick ? 3 : 10)),
                        List.of(Target.atLeast(0.98, "megabytesPerSecond", Relays.MILLRACE, Relays.C))),
                session.settings().rounds(3, 10));
    }
}
