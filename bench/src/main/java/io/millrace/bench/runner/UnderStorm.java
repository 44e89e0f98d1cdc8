package io.millrace.bench.runner;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A server with 50 established connections, whose latency is measured, beside something else: nothing, 500 full handshakes a second, or so many messages on 50 other connections
 * that the server takes as much CPU as for those handshakes. How many these are is found by trial, from round to round; what was taken is in the figures.
 *
 * <p>Both loads share a core. The measured one has priority there, so that its figures are those of the server.
 */
final class UnderStorm implements Candidate {
    static final String QUIET = ", nothing beside";
    static final String HANDSHAKES = ", 500 handshakes/s";
    static final String MESSAGES = ", messages of the same CPU";

    private static final int RATE = 2_000;
    private static final int HANDSHAKE_RATE = 500;
    private static final Workload MEASURED = new Workload("echo", 50, 64, 1, rate(RATE));

    /** What the candidates of one server know of each other: parts of the core that were taken. */
    private static final class Known {
        double quiet = Double.NaN;
        double handshakes = Double.NaN;
        double messageRate = 20_000;
    }

    private final Session session;
    private final ServerProgram how;
    private final Server server;
    private final Load load;
    private final String beside;
    private final Known known;
    private final int warmUps;
    private final int seconds;

    private UnderStorm(
            Session session,
            ServerProgram how,
            Server server,
            Load load,
            String beside,
            Known known,
            int warmUps,
            int seconds) {
        this.session = session;
        this.how = how;
        this.server = server;
        this.load = load;
        this.beside = beside;
        this.known = known;
        this.warmUps = warmUps;
        this.seconds = seconds;
    }

    /** The three of one server. */
    static List<Candidate> of(Session session, ServerProgram how, Server server, Load load, int warmUps, int seconds) {
        Known known = new Known();
        List<Candidate> three = new ArrayList<>();
        for (String beside : List.of(QUIET, HANDSHAKES, MESSAGES)) {
            three.add(new UnderStorm(session, how, server, load, beside, known, warmUps, seconds));
        }
        return three;
    }

    private static List<String> rate(int rate) {
        return List.of("--rate", Integer.toString(rate), "--sleep", "1");
    }

    @Override
    public String name() {
        return how.name() + beside;
    }

    @Override
    public String command() {
        return how.shown(session.settings().home());
    }

    @Override
    public boolean compiles() {
        return true;
    }

    @Override
    public String warmUp() throws IOException, InterruptedException {
        return WarmUp.until(Math.max(2, warmUps), () -> run(2).getOrDefault("corePercent", 0.0));
    }

    @Override
    public Map<String, Double> measure() throws IOException, InterruptedException {
        if (!server.isAlive()) {
            throw new IOException("the server has died");
        }
        return run(seconds);
    }

    private Map<String, Double> run(int measured) throws IOException, InterruptedException {
        Workload other = switch (beside) {
            case HANDSHAKES -> new Workload("handshake", 64, 64, 1, rate(HANDSHAKE_RATE));
            case MESSAGES -> new Workload("echo", 50, 64, 1, rate((int) known.messageRate));
            default -> null;
        };
        Map<String, Double> figures = new LinkedHashMap<>();
        if (other == null) {
            figures.putAll(load.urgent().run(server, MEASURED, measured, 1));
        } else {
            List<String> command = load.command(server, other);
            // It begins before and ends after what is measured, which has 1 s before its window.
            command.addAll(List.of("--warmup", "1", "--seconds", Integer.toString(measured + 1)));
            Process beneath = session.children()
                    .start(new ProcessBuilder(Pinning.load(command))
                            .redirectError(session.log("beside").toFile()));
            try {
                figures.putAll(load.urgent().run(server, MEASURED, measured, 1));
                String said = new String(beneath.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                if (beneath.waitFor() != 0) {
                    throw new IOException("the load beside failed: " + Children.reason(session.log("beside"), said));
                }
                figures.put("besidePerSecond", Load.figures(said).getOrDefault("messagesPerSecond", 0.0));
            } finally {
                session.children().stop(beneath);
            }
        }
        double core = figures.getOrDefault("serverCpuSeconds", 0.0) / figures.getOrDefault("seconds", 1.0);
        figures.put("corePercent", core * 100);
        learn(core);
        return figures;
    }

    /** The next messages take what the handshakes took. */
    private void learn(double core) {
        switch (beside) {
            case QUIET -> known.quiet = core;
            case HANDSHAKES -> known.handshakes = core;
            default -> {
                double wanted = (known.handshakes - known.quiet) / (core - known.quiet);
                if (wanted > 0) { // false if one is not known yet
                    known.messageRate = Math.clamp(known.messageRate * Math.clamp(wanted, 0.3, 3), 100, 80_000);
                }
            }
        }
    }
}
