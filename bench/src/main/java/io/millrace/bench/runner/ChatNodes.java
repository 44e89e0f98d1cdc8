package io.millrace.bench.runner;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Nodes of one chat over one engine, under {@code load_chat}. All of them are started; a measurement with fewer has members on
 * the first ones only, and the others are idle then.
 */
final class ChatNodes implements AutoCloseable {
    private final Session session;
    private final Native peers;
    private final ServerProgram program;
    private final Server engine;
    private final boolean oneOrder;
    /** Added to the figures of each. */
    private final Map<String, Double> constants;

    private final List<Server> nodes = new ArrayList<>();
    private @Nullable String warmth;

    private ChatNodes(
            Session session,
            Native peers,
            ServerProgram program,
            Server engine,
            boolean oneOrder,
            Map<String, Double> constants) {
        this.session = session;
        this.peers = peers;
        this.program = program;
        this.engine = engine;
        this.oneOrder = oneOrder;
        this.constants = constants;
    }

    /**
     * Starts so many nodes.
     *
     * @param oneOrder whether all members must see all lines in the same order
     * @param constants what is added to the figures of each measurement
     * @return none, told absent, if they do not start
     */
    static ChatNodes start(
            Session session,
            Native peers,
            ServerProgram program,
            Server engine,
            int count,
            boolean oneOrder,
            Map<String, Double> constants)
            throws InterruptedException {
        ChatNodes all = new ChatNodes(session, peers, program, engine, oneOrder, constants);
        try {
            for (int i = 0; i < count; i++) {
                session.progress().show("starting " + program.name() + ", node " + (i + 1));
                all.nodes.add(program.start(session));
            }
        } catch (IOException e) {
            session.absent(new Absent(program.name(), "it does not start: " + e.getMessage()));
            all.close();
            all.nodes.clear();
        }
        return all;
    }

    /** Nobody, if they did not start. */
    List<Candidate> candidates(Crowd... crowds) {
        List<Candidate> candidates = new ArrayList<>();
        for (Crowd crowd : crowds) {
            if (crowd.nodes <= nodes.size()) {
                candidates.add(new Chatting(crowd));
            }
        }
        return candidates;
    }

    /**
     * How many say how much.
     *
     * @param name what is added to the name of the nodes' program
     * @param nodes on how many nodes they are
     * @param members on each of them
     * @param rate lines a second, of all of them together
     */
    record Crowd(String name, int nodes, int members, int rate) {}

    private Map<String, Double> run(Crowd crowd, int seconds, int warmUp) throws IOException, InterruptedException {
        List<Server> used = nodes.subList(0, crowd.nodes);
        for (Server node : used) {
            if (!node.isAlive()) {
                throw new IOException("a node has died");
            }
        }
        List<String> command = List.of(
                peers.path("load_chat").toString(),
                "--ports",
                used.stream().map(node -> Integer.toString(node.port())).collect(Collectors.joining(",")),
                "--pids",
                used.stream().map(node -> Long.toString(node.pid())).collect(Collectors.joining(",")),
                "--engine",
                Long.toString(engine.pid()),
                "--members",
                Integer.toString(crowd.members),
                "--rate",
                Integer.toString(crowd.rate),
                "--one-order",
                oneOrder ? "1" : "0",
                "--seconds",
                Integer.toString(seconds),
                "--warmup",
                Integer.toString(warmUp));
        try {
            return figures(session.children().run("the load", session.log("load-chat"), Pinning.load(command)));
        } finally {
            for (Server node : used) {
                session.settle(node);
            }
        }
    }

    /** The CPU of the nodes for each delivery, and of nodes and engine for each line. */
    static Map<String, Double> figures(String json) throws IOException {
        Map<String, Double> figures = new LinkedHashMap<>(Load.figures(json));
        double lines = figures.getOrDefault("published", 0.0);
        if (lines == 0) {
            throw new IOException("nobody said anything: " + json.strip());
        }
        figures.put("lineMicros", figures.getOrDefault("serverCpuSeconds", Double.NaN) * 1e6 / lines);
        figures.put("engineMicros", figures.getOrDefault("engineCpuSeconds", Double.NaN) * 1e6 / lines);
        return figures;
    }

    List<Server> nodes() {
        return nodes;
    }

    /** All nodes are warm after it, and once is enough. */
    private String warmUp(Crowd crowd) throws IOException, InterruptedException {
        String known = warmth;
        if (known == null) {
            boolean quick = session.settings().quick();
            Crowd all = new Crowd("", nodes.size(), crowd.members, 2 * crowd.rate);
            known = WarmUp.until(
                    quick ? 2 : 20, () -> run(all, quick ? 1 : 2, 0).getOrDefault("cpuMicros", 0.0));
            warmth = known;
            return known;
        }
        return "together with the others on these nodes";
    }

    private final class Chatting implements Candidate {
        private final Crowd crowd;

        Chatting(Crowd crowd) {
            this.crowd = crowd;
        }

        @Override
        public String name() {
            return program.name() + crowd.name;
        }

        @Override
        public String command() {
            return program.shown(session.settings().home());
        }

        @Override
        public boolean compiles() {
            return program.compiles();
        }

        @Override
        public String warmUp() throws IOException, InterruptedException {
            return ChatNodes.this.warmUp(crowd);
        }

        @Override
        public Map<String, Double> measure() throws IOException, InterruptedException {
            boolean quick = session.settings().quick();
            Map<String, Double> figures = run(crowd, quick ? 1 : 4, quick ? 0 : 1);
            figures.putAll(constants);
            return figures;
        }
    }

    @Override
    public void close() throws InterruptedException {
        for (Server node : nodes) {
            node.close();
        }
    }
}
