package io.millrace.bench.runner;

import io.millrace.bench.peers.ServerCpu;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** {@code ./millrace serve redis} beside Redis itself, each with one thread on the same core, under redis-benchmark(1) on another. */
final class RedisSuite implements Suite {
    private static final String REDIS = "Redis";
    private static final String MILLRACE = "Millrace redis";
    private static final List<String> TESTS = List.of("PING_MBULK", "SET", "GET", "INCR");
    private static final int CLIENTS = 50;
    /** The server's, over all tests together: the rates have the core of redis-benchmark in them, too. */
    private static final String CPU = "cpuMicros";

    private static final String USER = "userMicros";

    @Override
    public void run(Session session) throws IOException, InterruptedException {
        session.print("redis: " + Pinning.text());
        if (Tools.find("redis-benchmark").isEmpty()) {
            session.absent(new Absent(
                    "redis-benchmark, so all of redis",
                    "it is not installed; install: sudo apt-get install -y redis-tools redis-server"));
            return;
        }
        List<Server> servers = new ArrayList<>();
        try {
            for (int pipeline : List.of(1, 16)) {
                List<Candidate> candidates = new ArrayList<>();
                for (ServerProgram how : List.of(redis(), millrace(session))) {
                    if (how.missing() != null) {
                        session.absent(new Absent(how.name(), how.missing()));
                        continue;
                    }
                    Server server = how.start(session);
                    servers.add(server);
                    String shown = how.shown(session.settings().home());
                    candidates.add(new Tested(how.name(), shown, how.compiles(), server, pipeline, session));
                }
                session.compare(
                        comparison(pipeline, candidates), session.settings().rounds(3, 10));
            }
        } finally {
            for (Server server : servers) {
                server.close();
            }
        }
    }

    private static Comparison comparison(int pipeline, List<Candidate> candidates) {
        List<Column> columns = new ArrayList<>();
        List<Target> targets = new ArrayList<>();
        for (String test : TESTS) {
            columns.add(Column.compared(test, test + "/s", 0));
            targets.add(Target.atLeast(1.0, test, MILLRACE, REDIS));
        }
        columns.add(Column.compared(CPU, "CPU µs/request", 2));
        columns.add(Column.shown(USER, "user µs/request", 2));
        columns.add(Column.shown("p50.GET", "GET p50 ms", 3));
        columns.add(Column.shown("p99.GET", "GET p99 ms", 3));
        return new Comparison(
                "redis-" + pipeline,
                "redis-benchmark -c " + CLIENTS + " -P " + pipeline,
                REDIS,
                columns,
                candidates,
                targets);
    }

    private static ServerProgram redis() throws IOException {
        if (Tools.find("redis-server").isEmpty()) {
            return ServerProgram.notInstalled(REDIS, "redis-server");
        }
        int port = Server.freePort();
        return ServerProgram.installed(
                REDIS,
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
    }

    private static ServerProgram millrace(Session session) {
        return ServerProgram.launched(
                session.settings().home(), MILLRACE, 1, "serve", "redis", "--loops", "1", "--port", "0");
    }

    /** A server under redis-benchmark. */
    private record Tested(String name, String command, boolean compiles, Server server, int pipeline, Session session)
            implements Candidate {
        @Override
        public String warmUp() throws IOException, InterruptedException {
            return WarmUp.until(
                    session.settings().quick() ? 3 : 8, () -> measure().get("GET"));
        }

        /** About as long at each depth of the pipeline. */
        private int requests() {
            return (session.settings().quick() ? 40_000 : 150_000) * (pipeline > 1 ? 8 : 1);
        }

        @Override
        public Map<String, Double> measure() throws IOException, InterruptedException {
            List<String> command = List.of(
                    "redis-benchmark",
                    "-h",
                    "127.0.0.1",
                    "-p",
                    Integer.toString(server.port()),
                    "-c",
                    Integer.toString(CLIENTS),
                    "-n",
                    Integer.toString(requests()),
                    "-P",
                    Integer.toString(pipeline),
                    "-t",
                    String.join(",", TESTS).toLowerCase(Locale.ROOT),
                    "--csv");
            ServerCpu before = ServerCpu.of(server.pid());
            String csv =
                    session.children().run("redis-benchmark", session.log("redis-benchmark"), Pinning.load(command));
            ServerCpu cpu = ServerCpu.of(server.pid()).minus(before);
            session.settle(server);
            Map<String, Double> figures = figures(csv);
            double each = 1e6 / requests() / TESTS.size();
            if (!Double.isNaN(cpu.total())) {
                figures.put(CPU, cpu.total() * each);
            }
            if (!Double.isNaN(cpu.user())) {
                figures.put(USER, cpu.user() * each);
            }
            return figures;
        }
    }

    /**
     * Requests a second by the name of the test, and latencies in milliseconds behind {@code p50.} and {@code p99.}.
     *
     * @throws IOException if a test is missing
     */
    static Map<String, Double> figures(String csv) throws IOException {
        Map<String, Double> figures = new LinkedHashMap<>();
        List<List<String>> rows = csv.lines()
                .filter(line -> line.startsWith("\""))
                .map(line -> List.of(line.substring(1, line.length() - 1).split("\",\"", -1)))
                .toList();
        for (List<String> row : rows) {
            if (TESTS.contains(row.getFirst())) {
                figures.put(row.getFirst(), number(rows.getFirst(), row, "rps"));
                figures.put("p50." + row.getFirst(), number(rows.getFirst(), row, "p50_latency_ms"));
                figures.put("p99." + row.getFirst(), number(rows.getFirst(), row, "p99_latency_ms"));
            }
        }
        if (!figures.keySet().containsAll(TESTS)) {
            throw new IOException("redis-benchmark did not run all tests: " + csv.strip());
        }
        return figures;
    }

    private static double number(List<String> header, List<String> row, String column) throws IOException {
        int at = header.indexOf(column);
        if (at < 0 || at >= row.size()) {
            throw new IOException("redis-benchmark tells no " + column + ": it is older than version 6.2");
        }
        return Double.parseDouble(row.get(at));
    }
}
