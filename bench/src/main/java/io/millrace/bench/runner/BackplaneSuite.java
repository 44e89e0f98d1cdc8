package io.millrace.bench.runner;

import io.millrace.bench.runner.ChatNodes.Crowd;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * One chat room on one, two and three nodes: {@code ./millrace serve chat --backplane URL} beside a chat on Netty that uses
 * Lettuce or jnats directly. Each node has one loop, and all nodes share the first core; the load and the engine share the last.
 *
 * <p>A room with many members on each node tells what a delivery costs, one with few what a line costs and how soon it arrives.
 * What the nodes take is counted, and the engine's CPU shown beside it. All of it runs in the one network namespace of the bench,
 * where there is nothing but loopback: with two cores, namespaces of their own for nodes would add the cost of veth and no distance.
 */
final class BackplaneSuite implements Suite {
    static final String OURS = "Millrace";
    static final int NODES = 3;
    static final int MANY = 50;
    static final int FEW = 2;
    static final int RATE = 300;

    private static final String LETTUCE = "Lettuce";
    private static final String JNATS = "jnats";
    private static final String JETSTREAM = "jnats, JetStream";

    private static final List<Column> COLUMNS = List.of(
            Column.compared("cpuMicros", "CPU µs/delivery", 2),
            Column.compared("p50us", "p50 µs", 0),
            Column.shown("p99us", "p99 µs", 0),
            Column.shown("userMicros", "user µs/delivery", 2),
            Column.shown("lineMicros", "CPU µs/line", 0),
            Column.shown("engineMicros", "engine µs/line", 0));

    @Override
    public void run(Session session) throws IOException, InterruptedException {
        session.print("backplane: " + Pinning.text() + ", with the engine");
        Native peers = Native.build(session);
        String missing = peers.missing("load_chat");
        if (missing != null) {
            session.absent(new Absent("the load of chat, so all of backplane", missing));
            return;
        }
        redis(session, peers);
        nats(session, peers);
        Optional<Path> figures = session.figures();
        if (figures.isPresent()) {
            session.print(Scale.check(figures.get()).stripTrailing());
        }
    }

    // ---- Engines ----

    private static void redis(Session session, Native peers) throws IOException, InterruptedException {
        if (!isWanted(session, "redis", "rooms")) {
            return;
        }
        if (Tools.find("redis-server").isEmpty()) {
            session.absent(new Absent(
                    "Redis, so the chat over it",
                    "it is not installed; install: sudo apt-get install -y redis-server"));
            return;
        }
        int port = Server.freePort();
        ServerProgram program = ServerProgram.installed(
                "Redis",
                port,
                List.of(
                        "redis-server",
                        "--save",
                        "",
                        "--appendonly",
                        "no",
                        "--bind",
                        "127.0.0.1",
                        "--port",
                        Integer.toString(port)));
        try (Server engine = program.startBesideLoad(session)) {
            chat(session, peers, engine, "redis", LETTUCE, Map.of(LETTUCE, "redis"));
            rooms(session, peers, engine);
        }
    }

    private static void nats(Session session, Native peers) throws IOException, InterruptedException {
        if (!isWanted(session, "nats")) {
            return;
        }
        if (Tools.find("nats-server").isEmpty()) {
            session.absent(new Absent(
                    "NATS, so the chat over it", "it is not installed; install: sudo apt-get install -y nats-server"));
            return;
        }
        int port = Server.freePort();
        Path store = session.log("nats").resolveSibling("nats-" + port);
        Files.createDirectories(store);
        ServerProgram program = ServerProgram.installed(
                "NATS",
                port,
                List.of(
                        Tools.find("nats-server").orElseThrow().toString(),
                        "-a",
                        "127.0.0.1",
                        "-p",
                        Integer.toString(port),
                        "-js",
                        "-sd",
                        store.toString()));
        try (Server engine = program.startBesideLoad(session)) {
            chat(session, peers, engine, "nats", JNATS, new TreeMap<>(Map.of(JNATS, "nats", JETSTREAM, "jetstream")));
        }
    }

    private static boolean isWanted(Session session, String... engines) {
        boolean wanted = false;
        for (String engine : engines) {
            List<String> ids = engine.equals("rooms")
                    ? List.of("backplane-redis-rooms")
                    : List.of("backplane-" + engine + "-many", "backplane-" + engine + "-few");
            for (String id : ids) {
                if (session.settings().isWanted(id)) {
                    wanted = true;
                } else {
                    session.leaveOut(id);
                }
            }
        }
        return wanted;
    }

    // ---- One room ----

    private static void chat(
            Session session, Native peers, Server engine, String scheme, String bare, Map<String, String> bareEngines)
            throws IOException, InterruptedException {
        String many = "backplane-" + scheme + "-many";
        String few = "backplane-" + scheme + "-few";
        if (!session.settings().isWanted(many) && !session.settings().isWanted(few)) {
            return;
        }
        Path home = session.settings().home();
        List<ChatNodes> others = new ArrayList<>();
        try (ChatNodes ours =
                ChatNodes.start(session, peers, ours(home, scheme, engine), engine, NODES, true, Map.of())) {
            for (Map.Entry<String, String> each : bareEngines.entrySet()) {
                boolean oneOrder = !each.getValue().equals("nats"); // which promises none between two publishers
                others.add(ChatNodes.start(
                        session,
                        peers,
                        bare(home, each.getKey(), each.getValue(), engine),
                        engine,
                        NODES,
                        oneOrder,
                        Map.of()));
            }
            compare(session, many, MANY, bare, ours, others);
            compare(session, few, FEW, bare, ours, others);
        } finally {
            for (ChatNodes each : others) {
                each.close();
            }
        }
    }

    private static void compare(
            Session session, String id, int members, String bare, ChatNodes ours, List<ChatNodes> others)
            throws IOException, InterruptedException {
        String one = ", 1 node";
        String two = ", 2 nodes";
        String three = ", 3 nodes";
        String all = ", 1 node with all";
        List<Candidate> candidates = new ArrayList<>(ours.candidates(
                new Crowd(one, 1, members, RATE),
                new Crowd(two, 2, members, RATE),
                new Crowd(three, NODES, members, RATE),
                new Crowd(all, 1, NODES * members, RATE)));
        for (ChatNodes each : others) {
            candidates.addAll(
                    each.candidates(new Crowd(one, 1, members, RATE), new Crowd(three, NODES, members, RATE)));
        }
        session.compare(
                new Comparison(
                        id,
                        String.format(
                                Locale.ROOT,
                                "chat over %s, %d members on each node, %d lines of 64 B a second",
                                id.contains("redis") ? "Redis" : "NATS",
                                members,
                                RATE),
                        OURS + one,
                        COLUMNS,
                        candidates,
                        List.of(
                                Target.atMost(1.15, "cpuMicros", OURS + three, OURS + one),
                                Target.atMost(1.15, "cpuMicros", OURS + three, OURS + all),
                                Target.atMost(1.3, "p50us", OURS + one, bare + one),
                                Target.atMost(1.3, "p50us", OURS + three, bare + three))),
                session.settings().rounds(2, 5));
    }

    private static ServerProgram ours(Path home, String scheme, Server engine) {
        return ServerProgram.launched(
                home,
                OURS,
                1,
                "serve",
                "chat",
                "--port",
                "0",
                "--loops",
                "1",
                "--backplane",
                scheme + "://127.0.0.1:" + engine.port());
    }

    private static ServerProgram bare(Path home, String name, String how, Server engine) {
        List<String> program =
                List.of("io.millrace.bench.peers.BareChat", "--engine", how, "--at", Integer.toString(engine.port()));
        return ServerProgram.jvm(name, ServerProgram.joined(ServerProgram.java(home), program), 1);
    }

    // ---- Many rooms ----

    /** One node follows many rooms, and there is talk in one of them. */
    private static void rooms(Session session, Native peers, Server engine) throws IOException, InterruptedException {
        String id = "backplane-redis-rooms";
        if (!session.settings().isWanted(id)) {
            return;
        }
        Path home = session.settings().home();
        List<ChatNodes> all = new ArrayList<>();
        List<Candidate> candidates = new ArrayList<>();
        try {
            for (int rooms : session.settings().quick() ? List.of(1, 1_000) : List.of(1, 100, 1_000, 10_000)) {
                List<String> program = List.of(
                        "io.millrace.bench.peers.RoomsChat",
                        "--rooms",
                        Integer.toString(rooms),
                        "--backplane",
                        "redis://127.0.0.1:" + engine.port() + "/" + (1 + all.size())); // a database each
                ChatNodes node = ChatNodes.start(
                        session,
                        peers,
                        ServerProgram.jvm(
                                String.format(Locale.ROOT, "%s, %,d room%s", OURS, rooms, rooms == 1 ? "" : "s"),
                                ServerProgram.joined(ServerProgram.java(home), program),
                                1),
                        engine,
                        1,
                        true,
                        Map.of("rooms", (double) rooms));
                all.add(node);
                candidates.addAll(node.candidates(new Crowd("", 1, FEW, RATE)));
            }
            session.compare(
                    new Comparison(
                            id,
                            "a node that follows many rooms of Redis, and there is talk in one of them",
                            OURS + ", 1 room",
                            COLUMNS,
                            candidates,
                            List.of()),
                    session.settings().rounds(2, 5));
        } finally {
            for (ChatNodes each : all) {
                each.close();
            }
        }
    }
}
