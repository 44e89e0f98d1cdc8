package io.millrace.bench.runner;

import io.millrace.bench.peers.ServerCpu;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Static files: {@code ./millrace serve http} beside nginx and Netty's HTTP, asked by wrk. Each server has one thread, on
 * the first core; wrk is on the last. nginx has its usual settings for files: sendfile and keep-alive, without a cache of
 * open files.
 */
final class HttpSuite implements Suite {
    private static final String NGINX = "nginx";
    private static final String MILLRACE = "Millrace";
    private static final String NETTY = "Netty";

    private static final Pattern REQUESTS = Pattern.compile("(\\d+) requests in ([0-9.]+)(m?s)");
    private static final Pattern FAILED = Pattern.compile("Socket errors: .*|Non-2xx.*");

    private static final List<Column> REQUEST_COLUMNS = List.of(
            Column.compared("cpuMicros", "CPU µs/request", 1),
            Column.compared("requestsPerSecond", "requests/s", 0),
            Column.shown("userMicros", "user µs/request", 1));

    /** A server asked by wrk. */
    private record Asked(Session session, String name, ServerProgram program, Server server, String file, int seconds)
            implements Candidate {
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
                    "http://127.0.0.1:" + server.port() + "/" + file);
            ServerCpu before = ServerCpu.of(server.pid());
            String said = session.children().run("wrk", session.log("wrk"), Pinning.load(command));
            ServerCpu used = ServerCpu.of(server.pid()).minus(before);
            Matcher failed = FAILED.matcher(said);
            Matcher counted = REQUESTS.matcher(said);
            if (failed.find() || !counted.find()) {
                throw new IOException("wrk said: " + said.strip());
            }
            double requests = Double.parseDouble(counted.group(1));
            double took =
                    Double.parseDouble(counted.group(2)) / (counted.group(3).equals("ms") ? 1000 : 1);
            Map<String, Double> figures = new LinkedHashMap<>();
            figures.put("requestsPerSecond", requests / took);
            figures.put("cpuMicros", used.total() * 1e6 / requests);
            figures.put("userMicros", used.user() * 1e6 / requests);
            return figures;
        }
    }

    @Override
    public void run(Session session) throws IOException, InterruptedException {
        session.print("http: " + Pinning.text());
        if (Tools.find("wrk").isEmpty()) {
            session.absent(
                    new Absent("wrk, so all of http", "it is not installed; install: sudo apt-get install -y wrk"));
            return;
        }
        Path home = session.settings().home();
        Path site = session.log("http").resolveSibling("www");
        Files.createDirectories(site);
        Files.write(site.resolve("small.bin"), new byte[1 << 10]);
        Files.write(site.resolve("large.bin"), new byte[1 << 20]);
        List<ServerProgram> programs = List.of(
                nginx(session, site),
                ServerProgram.launched(
                        home, MILLRACE, 1, "serve", "http", site.toString(), "--port", "0", "--loops", "1"),
                ServerProgram.jvm(
                        NETTY,
                        ServerProgram.joined(
                                ServerProgram.java(home),
                                List.of("io.millrace.bench.peers.NettyFiles", "--directory", site.toString())),
                        1));
        List<Server> running = new ArrayList<>();
        List<ServerProgram> started = new ArrayList<>();
        try {
            for (ServerProgram program : programs) {
                if (program.missing() != null) {
                    session.absent(new Absent(program.name(), program.missing()));
                    continue;
                }
                running.add(program.start(session));
                started.add(program);
            }
            compare(session, started, running, "small.bin", "a file of 1 KiB", 1.3);
            compare(session, started, running, "large.bin", "a file of 1 MiB", 1.0);
        } finally {
            for (Server each : running) {
                each.close();
            }
        }
    }

    private static void compare(
            Session session, List<ServerProgram> programs, List<Server> servers, String file, String what, double most)
            throws IOException, InterruptedException {
        boolean quick = session.settings().quick();
        List<Candidate> candidates = new ArrayList<>();
        for (int i = 0; i < programs.size(); i++) {
            ServerProgram program = programs.get(i);
            candidates.add(new Asked(session, program.name(), program, servers.get(i), file, quick ? 2 : 3));
        }
        session.compare(
                new Comparison(
                        "http-" + file.replace(".bin", ""),
                        what + ", 50 connections",
                        programs.getFirst().name(),
                        REQUEST_COLUMNS,
                        candidates,
                        List.of(
                                Target.atMost(most, "cpuMicros", MILLRACE, NGINX),
                                Target.atMost(0.9, "cpuMicros", MILLRACE, NETTY))),
                session.settings().rounds(3, 10));
    }

    private static ServerProgram nginx(Session session, Path site) throws IOException {
        Path program = Path.of("/usr/sbin/nginx");
        if (!Files.isExecutable(program)) {
            return ServerProgram.notInstalled(NGINX, "nginx-light");
        }
        int port = Server.freePort();
        Path config = session.log(NGINX).resolveSibling("nginx.conf");
        Files.createDirectories(config.getParent());
        Files.writeString(config, """
                daemon off;
                master_process off;
                pid %1$s/nginx.pid;
                error_log stderr crit;
                events { worker_connections 4096; }
                http {
                  access_log off;
                  sendfile on;
                  tcp_nopush on;
                  keepalive_requests 1000000000;
                  client_body_temp_path %1$s; proxy_temp_path %1$s; fastcgi_temp_path %1$s; uwsgi_temp_path %1$s; scgi_temp_path %1$s;
                  server { listen 127.0.0.1:%2$d; root %3$s; }
                }
                """.formatted(config.getParent(), port, site));
        return ServerProgram.installed(
                NGINX,
                port,
                List.of(program.toString(), "-p", config.getParent().toString(), "-c", config.toString()));
    }
}
