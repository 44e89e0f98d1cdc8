package io.millrace.bench.runner;

import java.io.IOException;
import java.util.Map;

/**
 * How soon a server listens: started anew in every round, on all cores.
 *
 * @param how to start it
 * @param session where
 */
record StartUp(ServerProgram how, Session session) implements Candidate {
    @Override
    public String name() {
        return how.name();
    }

    @Override
    public String command() {
        return how.shown(session.settings().home());
    }

    @Override
    public Map<String, Double> measure() throws IOException, InterruptedException {
        try (Server server = how.startAnywhere(session)) {
            return Map.of("startMillis", server.startMillis());
        }
    }
}
