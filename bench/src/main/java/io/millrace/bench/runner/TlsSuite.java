package io.millrace.bench.runner;

import io.millrace.bench.runner.ServerUnderLoad.Window;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * TLS 1.3: {@code ./millrace serve echo --tls-cert FILE --tls-key FILE} beside Netty's {@code SslHandler} on the JDK's engine and on tcnative; for handshakes also {@code ./millrace
 * proxy} and HAProxy, which end TLS before an echo server in C. All have the same certificate; cipher and group are the only ones that the load offers.
 */
final class TlsSuite implements Suite {
    private static final String MILLRACE = "Millrace";
    private static final String NETTY = "Netty, JDK engine";
    private static final String TCNATIVE = "Netty, tcnative";
    private static final String PROXY = "Millrace proxy, before C";
    private static final String HAPROXY = "HAProxy, before C";

    private static final int IDLE = 5_000;
    private static final int AT_A_TIME = 16;

    private static final List<Column> HANDSHAKES = List.of(
            Column.compared("messagesPerSecond", "handshakes/s", 0),
            Column.compared("cpuMicros", "CPU µs/handshake", 0),
            Column.shown("userMicros", "user µs", 0),
            Column.shown("p50us", "p50 µs", 0),
            Column.shown("p99us", "p99 µs", 0));

    @Override
    public void run(Session session) throws IOException, InterruptedException {
        session.print(
                "tls: " + Pinning.text() + "; TLS 1.3, TLS_AES_128_GCM_SHA256, X25519, a certificate of EC P-256");
        Native peers = Native.build(session);
        if (peers.missing("load_tls") != null) {
            session.absent(new Absent("the load over TLS, so all of tls", String.valueOf(peers.missing("load_tls"))));
            return;
        }
        if (Tools.find("openssl").isEmpty()) {
            session.absent(new Absent(
                    "openssl(1), which makes the certificate, so all of tls",
                    "it is not installed; install: sudo apt-get install -y openssl"));
            return;
        }
        Certificate certificate = Certificate.make(session);
        Load load = Load.tls(session, peers);
        messages(session, certificate, load);
        handshakes(session, peers, certificate, load);
        storm(session, certificate, load);
        weight(session, peers, certificate);
        if (session.settings().quick()) {
            session.print("left out by --quick: tcnative, HAProxy, 1,000 connections, bulk, resumed handshakes");
        }
    }

    /** Those that echo; without tcnative when time is short. */
    private static List<ServerProgram> servers(Session session, Certificate certificate) {
        Path home = session.settings().home();
        List<ServerProgram> servers = List.of(
                EchoServers.millrace(
                        home,
                        MILLRACE,
                        List.of(
                                "--tls-cert",
                                certificate.chain().toString(),
                                "--tls-key",
                                certificate.key().toString())),
                EchoServers.nettyTls(home, NETTY, "jdk", certificate),
                EchoServers.nettyTls(home, TCNATIVE, "openssl", certificate));
        return session.settings().quick() ? servers.subList(0, 2) : servers;
    }

    // ---- Messages ----

    private record Work(String id, String title, Workload work, boolean pieces) {}

    private static void messages(Session session, Certificate certificate, Load load)
            throws IOException, InterruptedException {
        boolean quick = session.settings().quick();
        List<Work> all = List.of(
                new Work("tls-echo-64", "TLS echo of 64 B, 50 connections", Workload.echo(50), false),
                new Work("tls-echo-64-1000", "TLS echo of 64 B, 1,000 connections", Workload.echo(1_000), false),
                new Work(
                        "tls-echo-16k",
                        "TLS echo of 16 KiB, 16 connections",
                        new Workload("echo", 16, 16 << 10, 1, List.of()),
                        true),
                new Work(
                        "tls-bulk",
                        "TLS bulk, 256 KiB in flight on each of 4 connections",
                        new Workload("stream", 4, 64 << 10, 4, List.of()),
                        true));
        List<Work> chosen = all.stream()
                .filter(work -> !quick || work.id.equals("tls-echo-64") || work.id.equals("tls-echo-16k"))
                .toList();
        try (Servers servers = new Servers(session)) {
            if (chosen.stream().anyMatch(work -> session.settings().isWanted(work.id))) {
                servers.start(servers(session, certificate));
            }
            for (Work each : chosen) {
                List<Target> targets = each.id.equals("tls-bulk")
                        ? List.of()
                        : List.of(Target.atMost(0.95, "cpuMicros", MILLRACE, NETTY));
                session.compare(
                        new Comparison(
                                each.id,
                                each.title,
                                NETTY,
                                each.pieces ? Load.PIECES : Load.MESSAGES,
                                servers.candidates(load, each.work, Window.of(quick, quick ? 3 : 15)),
                                targets),
                        session.settings().rounds(2, 10));
            }
        }
    }

    // ---- Handshakes ----

    private static void handshakes(Session session, Native peers, Certificate certificate, Load load)
            throws IOException, InterruptedException {
        boolean quick = session.settings().quick();
        List<String> ids =
                quick ? List.of("tls-full-handshakes") : List.of("tls-full-handshakes", "tls-resumed-handshakes");
        if (ids.stream().noneMatch(session.settings()::isWanted)) {
            ids.forEach(session::leaveOut);
            return;
        }
        Path home = session.settings().home();
        ServerProgram echo = EchoServers.c(peers, 1).named("the echo server behind proxies");
        try (Server behind = echo.startBesideLoad(session);
                Servers servers = new Servers(session)) {
            List<ServerProgram> programs = new ArrayList<>(servers(session, certificate));
            if (!quick) {
                programs.add(proxy(home, certificate, behind.port()));
                programs.add(haproxy(session, certificate, behind.port()));
            }
            servers.start(programs);
            for (String id : ids) {
                boolean resumed = id.contains("resumed");
                List<String> more = List.of("--resume", resumed ? "1" : "0");
                session.compare(
                        new Comparison(
                                id,
                                (resumed ? "resumed" : "full") + " handshakes, each with one message of 64 B, "
                                        + AT_A_TIME + " at a time",
                                NETTY,
                                HANDSHAKES,
                                servers.candidates(
                                        load,
                                        new Workload("handshake", AT_A_TIME, 64, 1, more),
                                        quick ? new Window(2, 1, 2) : new Window(8, 1, 3)),
                                resumed
                                        ? List.of()
                                        : List.of(Target.atLeast(1.0, "messagesPerSecond", MILLRACE, NETTY))),
                        session.settings().rounds(2, 10));
            }
        }
    }

    private static ServerProgram proxy(Path home, Certificate certificate, int upstream) {
        return ServerProgram.launched(
                home,
                PROXY,
                1,
                "proxy",
                "127.0.0.1:0",
                "127.0.0.1:" + upstream,
                "--loops",
                "1",
                "--backend",
                "epoll",
                "--tls-cert",
                certificate.chain().toString(),
                "--tls-key",
                certificate.key().toString());
    }

    private static ServerProgram haproxy(Session session, Certificate certificate, int upstream) throws IOException {
        int port = Server.freePort();
        Path config = session.log(HAPROXY).resolveSibling("haproxy-tls.cfg");
        Files.writeString(
                config,
                Relays.haproxyConfig(port, upstream)
                        .replace(
                                "bind 127.0.0.1:" + port, "bind 127.0.0.1:" + port + " ssl crt " + certificate.both()));
        return Relays.haproxy(Tools.find("haproxy"), port, config).named(HAPROXY);
    }

    // ---- Established connections beside handshakes ----

    private static void storm(Session session, Certificate certificate, Load load)
            throws IOException, InterruptedException {
        if (!session.settings().isWanted("tls-storm")) {
            session.leaveOut("tls-storm");
            return;
        }
        boolean quick = session.settings().quick();
        List<Candidate> candidates = new ArrayList<>();
        List<Server> started = new ArrayList<>();
        try {
            for (ServerProgram how : servers(session, certificate)) {
                if (quick && !how.name().equals(MILLRACE)) {
                    continue;
                }
                Server server = how.start(session);
                started.add(server);
                candidates.addAll(UnderStorm.of(session, how, server, load, quick ? 2 : 4, quick ? 2 : 3));
            }
            session.compare(
                    new Comparison(
                            "tls-storm",
                            "50 established connections, 2,000 messages of 64 B a second over all, beside other work",
                            MILLRACE + UnderStorm.MESSAGES,
                            List.of(
                                    Column.compared("p99us", "p99 µs", 0),
                                    Column.shown("p50us", "p50 µs", 0),
                                    Column.shown("p999us", "p99.9 µs", 0),
                                    Column.shown("corePercent", "% of the core", 0),
                                    Column.shown("besidePerSecond", "beside, 1/s", 0)),
                            candidates,
                            List.of(
                                    Target.atMost(
                                            2.0,
                                            "p99us",
                                            MILLRACE + UnderStorm.HANDSHAKES,
                                            MILLRACE + UnderStorm.MESSAGES),
                                    Target.atMost(
                                            2.0, "p99us", NETTY + UnderStorm.HANDSHAKES, NETTY + UnderStorm.MESSAGES))),
                    session.settings().rounds(2, 10));
        } finally {
            for (Server server : started) {
                server.close();
            }
        }
    }

    // ---- Weight ----

    private static void weight(Session session, Native peers, Certificate certificate)
            throws IOException, InterruptedException {
        int idle = session.settings().quick() ? 1_000 : IDLE;
        IdleWeight.Holder holder = IdleWeight.nativeHolder(peers, "load_tls");
        Path home = session.settings().home();
        List<Candidate> candidates = new ArrayList<>();
        candidates.add(new EngineWeight(session, certificate, idle));
        for (ServerProgram server : servers(session, certificate)) {
            candidates.add(new IdleWeight(server, idle, session, holder, 0));
        }
        candidates.add(new IdleWeight(
                EchoServers.millrace(home, MILLRACE + ", plain", List.of()),
                idle,
                session,
                IdleWeight.nativeHolder(peers, "load"),
                0));
        session.compare(
                new Comparison(
                        "tls-idle",
                        String.format(Locale.ROOT, "%,d idle TLS connections: what each weighs in the server", idle),
                        EngineWeight.NAME,
                        List.of(
                                Column.compared("heapBytes", "heap B", 0),
                                Column.shown("beyondEngineBytes", "beyond the engine B", 0),
                                Column.shown("residentBytes", "resident B", 0)),
                        EngineWeight.beyond(candidates),
                        List.of(Target.atMost(1024, "beyondEngineBytes", MILLRACE))),
                session.settings().rounds(1, 5));
    }

    /** What an {@link javax.net.ssl.SSLEngine} weighs by itself. */
    record EngineWeight(Session session, Certificate certificate, int count) implements Candidate {
        static final String NAME = "SSLEngine alone";

        @Override
        public String name() {
            return NAME;
        }

        @Override
        public Map<String, Double> measure() throws IOException, InterruptedException {
            List<String> command = ServerProgram.joined(
                    ServerProgram.java(session.settings().home()),
                    List.of(
                            "io.millrace.bench.peers.TlsEngines",
                            "--count",
                            Integer.toString(count),
                            "--cert",
                            certificate.chain().toString(),
                            "--key",
                            certificate.key().toString()));
            return Load.figures(session.children().run(NAME, session.log(NAME), command));
        }

        /** Adds to every figure of the others what it is beyond the last one of the first. */
        static List<Candidate> beyond(List<Candidate> candidates) {
            double[] engine = {Double.NaN};
            return candidates.stream()
                    .<Candidate>map(candidate -> new Beyond(candidate, engine))
                    .toList();
        }
    }

    private record Beyond(Candidate candidate, double[] engine) implements Candidate {
        @Override
        public String name() {
            return candidate.name();
        }

        @Override
        public String command() {
            return candidate.command();
        }

        @Override
        public Map<String, Double> measure() throws IOException, InterruptedException {
            Map<String, Double> figures = new java.util.LinkedHashMap<>(candidate.measure());
            Double heap = figures.get("heapBytes");
            if (candidate instanceof EngineWeight && heap != null) {
                engine[0] = heap;
            } else if (heap != null && !Double.isNaN(engine[0])) {
                figures.put("beyondEngineBytes", heap - engine[0]);
            }
            return figures;
        }
    }
}
