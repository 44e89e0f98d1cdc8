package io.millrace.bench.runner;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The load generator: {@code bench/native/load.c}, or its copy in Java where nothing can compile C. */
final class Load {
    /** What a table about messages shows. */
    static final List<Column> MESSAGES = List.of(
            Column.compared("cpuMicros", "CPU µs/msg", 2),
            Column.compared("messagesPerSecond", "msgs/s", 0),
            Column.shown("userMicros", "user µs/msg", 2),
            Column.shown("p50us", "p50 µs", 0),
            Column.shown("p99us", "p99 µs", 0),
            Column.shown("p999us", "p99.9 µs", 0));

    /** What a table about large pieces shows. */
    static final List<Column> PIECES = List.of(
            Column.compared("megabytesPerSecond", "MB/s", 0),
            Column.compared("cpuMicros", "CPU µs/piece", 1),
            Column.shown("userMicros", "user µs/piece", 1),
            Column.shown("p99us", "p99 µs", 0));

    private final Session session;
    private final List<String> program;

    private Load(Session session, List<String> program) {
        this.session = session;
        this.program = program;
    }

    static Load of(Session session, Native peers) {
        String missing = peers.missing("load");
        if (missing == null) {
            return new Load(session, List.of(peers.path("load").toString()));
        }
        session.print("the load generator runs on a JVM, which blurs the tails: " + missing);
        List<String> program =
                new ArrayList<>(ServerProgram.java(session.settings().home()));
        program.add("io.millrace.bench.peers.Load");
        return new Load(session, program);
    }

    /** Over TLS: {@code load_tls}, for which there is no copy. */
    static Load tls(Session session, Native peers) {
        return new Load(session, List.of(peers.path("load_tls").toString()));
    }

    /** One that also runs with the priority of real time, where root may give it: it is never late because something else of this core runs. */
    Load urgent() {
        boolean possible = Tools.find("chrt").isPresent()
                && System.getProperty("user.name").equals("root");
        return possible ? new Load(session, ServerProgram.joined(List.of("chrt", "-f", "10"), program)) : this;
    }

    /** Its command for a server, without the times. */
    List<String> command(Server server, Workload work) {
        List<String> command = new ArrayList<>(program);
        command.addAll(List.of("--port", Integer.toString(server.port()), "--pid", Long.toString(server.pid())));
        command.addAll(work.arguments());
        return command;
    }

    /**
     * One window.
     *
     * @return everything the generator said, and the server's CPU for each message
     * @throws IOException if a byte came back wrong, or not at all
     */
    Map<String, Double> run(Server server, Workload work, int seconds, int warmUp)
            throws IOException, InterruptedException {
        List<String> command = command(server, work);
        command.addAll(List.of("--seconds", Integer.toString(seconds), "--warmup", Integer.toString(warmUp)));
        String said;
        try {
            said = session.children().run("the load", session.log("load"), Pinning.load(command));
        } finally {
            session.settle(server);
        }
        return figures(said);
    }

    /** The numbers in the generator's JSON, and what follows from them. */
    static Map<String, Double> figures(String json) throws IOException {
        Map<String, Double> figures = new LinkedHashMap<>();
        try {
            Json.readObject(json).forEach((key, value) -> {
                if (value instanceof Double number) {
                    figures.put(key, number);
                }
            });
        } catch (IllegalArgumentException e) {
            throw new IOException("the load said what is no JSON: " + json.strip(), e);
        }
        double messages = figures.getOrDefault("messages", 0.0);
        if (messages == 0) {
            throw new IOException("no message came back: " + json.strip());
        }
        each(figures, "serverCpuSeconds", "cpuMicros", messages);
        each(figures, "serverUserSeconds", "userMicros", messages);
        each(figures, "serverSystemSeconds", "systemMicros", messages);
        if (figures.containsKey("bytesPerSecond")) {
            figures.put("megabytesPerSecond", figures.get("bytesPerSecond") / 1e6);
        }
        return figures;
    }

    private static void each(Map<String, Double> figures, String seconds, String micros, double messages) {
        if (figures.containsKey(seconds)) {
            figures.put(micros, figures.get(seconds) * 1e6 / messages);
        }
    }
}
