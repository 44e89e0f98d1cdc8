package io.millrace.bench.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Static files: {@code ./millrace serve http} beside nginx and Netty's HTTP, asked by wrk. Each server has one thread, on
 * the first core; wrk is on the last. nginx has its usual settings for files: sendfile and keep-alive, without a cache of
 * open files; and once more with one that it looks after each second, since Millrace keeps short files for as long.
 */
final class HttpSuite implements Suite {
    private static final String NGINX = "nginx";
    private static final String NGINX_CACHING = "nginx, open_file_cache";
    private static final String MILLRACE = "Millrace";
    private static final String NETTY = "Netty";

    @Override
    public void run(Session session) throws IOException, InterruptedException {
        session.print("http: " + Pinning.text());
        if (AskedByWrk.isMissing(session, "http")) {
            return;
        }
        Path home = session.settings().home();
        Path site = session.log("http").resolveSibling("www");
        Files.createDirectories(site);
        Files.write(site.resolve("small.bin"), new byte[1 << 10]);
        Files.write(site.resolve("medium.bin"), new byte[20 << 10]);
        Files.write(site.resolve("large.bin"), new byte[1 << 20]);
        List<ServerProgram> programs = List.of(
                nginx(session, site, NGINX, ""),
                nginx(session, site, NGINX_CACHING, "open_file_cache max=1024; open_file_cache_valid 1s;"),
                ServerProgram.launched(
                        home, MILLRACE, 1, "serve", "http", site.toString(), "--port", "0", "--loops", "1"),
                ServerProgram.jvm(
                        NETTY,
                        ServerProgram.joined(
                                ServerProgram.java(home),
                                List.of("io.millrace.bench.peers.NettyFiles", "--directory", site.toString())),
                        1));
        try (Servers servers = new Servers(session)) {
            servers.start(programs);
            compare(session, servers, "small.bin", "a file of 1 KiB", 1.3);
            // So few large files go out in a second that a JVM would compile its code for minutes. These take the same
            // way in
            // every server, and there are many of them.
            for (Candidate each : servers.askedByWrk("/medium.bin", 8)) {
                session.print("warming up with a file of 20 KiB: " + each.name());
                each.measure();
            }
            compare(session, servers, "large.bin", "a file of 1 MiB", 1.0);
        }
    }

    private static void compare(Session session, Servers servers, String file, String what, double most)
            throws IOException, InterruptedException {
        List<Candidate> candidates =
                servers.askedByWrk("/" + file, session.settings().quick() ? 2 : 3);
        session.compare(
                new Comparison(
                        "http-" + file.replace(".bin", ""),
                        what + ", 50 connections",
                        candidates.getFirst().name(),
                        AskedByWrk.COLUMNS,
                        candidates,
                        List.of(
                                Target.atMost(most, "cpuMicros", MILLRACE, NGINX),
                                Target.atMost(0.9, "cpuMicros", MILLRACE, NETTY))),
                session.settings().rounds(3, 10));
    }

    private static ServerProgram nginx(Session session, Path site, String name, String settings) throws IOException {
        Path program = Path.of("/usr/sbin/nginx");
        if (!Files.isExecutable(program)) {
            return ServerProgram.notInstalled(name, "nginx-light");
        }
        int port = Server.freePort();
        Path config = session.log(NGINX).resolveSibling("nginx-" + port).resolve("nginx.conf");
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
                  %4$s
                  client_body_temp_path %1$s; proxy_temp_path %1$s; fastcgi_temp_path %1$s; uwsgi_temp_path %1$s; scgi_temp_path %1$s;
                  server { listen 127.0.0.1:%2$d; root %3$s; }
                }
                """.formatted(config.getParent(), port, site, settings));
        return ServerProgram.installed(
                name, port, List.of(program.toString(), "-p", config.getParent().toString(), "-c", config.toString()));
    }
}
