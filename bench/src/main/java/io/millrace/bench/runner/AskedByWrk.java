package io.millrace.bench.runner;

import io.millrace.bench.peers.ServerCpu;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An HTTP server that wrk asks, on 50 connections.
 *
 * @param session for its processes
 * @param program how the server was started
 * @param server it
 * @param path what is asked for
 * @param seconds how long a window is
 */
record AskedByWrk(Session session, ServerProgram program, Server server, String path, int seconds)
        implements Candidate {
    static final List<Column> COLUMNS = List.of(
            Column.compared("cpuMicros", "CPU µs/request", 1),
            Column.compared("requestsPerSecond", "requests/s", 0),
            Column.shown("userMicros", "user µs/request", 1));

    private static final Pattern REQUESTS = Pattern.compile("(\\d+) requests in ([0-9.]+)(m?s)");
    private static final Pattern FAILED = Pattern.compile("Socket errors: .*|Non-2xx.*");

    /** Tells the session that it is missing, if it is. */
    static boolean isMissing(Session session, String what) {
        if (Tools.find("wrk").isPresent()) {
            return false;
        }
        session.absent(
                new Absent("wrk, so all of " + what, "it is not installed; install: sudo apt-get install -y wrk"));
        return true;
    }

    @Override
    public String name() {
        return program.name();
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
        return WarmUp.until(10, () -> run(1).getOrDefault("cpuMicros", 0.0));
    }

    @Override
    public Map<String, Double> measure() throws IOException, InterruptedException {
        return run(seconds);
    }

    private Map<String, Double> run(int forSeconds) throws IOException, InterruptedException {
        List<String> command = List.of(
                Tools.find("wrk").orElseThrow().toString(),
                "-t1",
                "-c50",
                "-d" + forSeconds + "s",
                "http://127.0.0.1:" + server.port() + path);
        ServerCpu before = ServerCpu.of(server.pid());
        String said = session.children().run("wrk", session.log("wrk"), Pinning.load(command));
        ServerCpu used = ServerCpu.of(server.pid()).minus(before);
        Matcher failed = FAILED.matcher(said);
        Matcher counted = REQUESTS.matcher(said);
        if (failed.find() || !counted.find()) {
            throw new IOException("wrk said: " + said.strip());
        }
        double requests = Double.parseDouble(counted.group(1));
        double took = Double.parseDouble(counted.group(2)) / (counted.group(3).equals("ms") ? 1000 : 1);
        Map<String, Double> figures = new LinkedHashMap<>();
        figures.put("requestsPerSecond", requests / took);
        figures.put("cpuMicros", used.total() * 1e6 / requests);
        figures.put("userMicros", used.user() * 1e6 / requests);
        return figures;
    }
}
