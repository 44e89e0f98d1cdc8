package io.millrace.bench.runner;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Somebody in {@link io.millrace.bench.HandOverCpu}: a JVM of its own in every round.
 *
 * @param name in the table
 * @param peer its word for the program
 * @param session where it runs
 */
record HandOver(String name, String peer, Session session) implements Candidate {
    private static final String PROGRAM = "io.millrace.bench.HandOverCpu";

    static List<Candidate> candidates(Session session, Map<String, String> names) {
        List<Candidate> candidates = new ArrayList<>();
        names.forEach((peer, name) -> candidates.add(new HandOver(name, peer, session)));
        return candidates;
    }

    private List<String> line() {
        List<String> line =
                new ArrayList<>(ServerProgram.java(session.settings().home()));
        line.addAll(List.of(PROGRAM, peer));
        return line;
    }

    @Override
    public String command() {
        return Tools.shown(session.settings().home(), line());
    }

    @Override
    public Map<String, Double> measure() throws IOException, InterruptedException {
        return figures(session.children().run("HandOverCpu", session.log("hand-over"), line()));
    }

    /** Lines like {@code millrace execute 22.9 15.5}: producer and loop. */
    static Map<String, Double> figures(String said) throws IOException {
        Map<String, Double> figures = new LinkedHashMap<>();
        for (String line : said.lines().toList()) {
            String[] words = line.split(" ", -1);
            if (words.length != 4) {
                throw new IOException("HandOverCpu said what is not understood: " + line);
            }
            double producer = Double.parseDouble(words[2]);
            figures.put(words[1], producer + Double.parseDouble(words[3]));
            figures.put(words[1] + ".producer", producer);
        }
        return figures;
    }
}
