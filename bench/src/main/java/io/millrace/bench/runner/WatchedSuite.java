package io.millrace.bench.runner;

import io.millrace.bench.runner.ServerUnderLoad.Window;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What it costs to be looked at: the same echo server without a console, with one that nobody looks at, with one viewer,
 * and with the flight recorder there, but off, and on. What a server spends on its viewer counts as its CPU.
 */
final class WatchedSuite implements Suite {
    private static final String ALONE = "not watched";
    private static final String NO_VIEWER = "console, no viewer";
    private static final String VIEWER = "console, one viewer";
    private static final String OFF = "recorder there, off";
    private static final String ON = "recorder on";
    /** Of no use to anybody: the server is on the loopback interface, and ends with the measurement. */
    private static final String TOKEN = "token-of-the-benchmark";

    @Override
    public void run(Session session) throws IOException, InterruptedException {
        Native peers = Native.build(session);
        Load load = Load.of(session, peers);
        boolean quick = session.settings().quick();
        Path home = session.settings().home();
        int port = Server.freePort();
        Path recording = session.log("recording").resolveSibling("recording.jfr");
        Thread viewer = Thread.ofPlatform().daemon().name("viewer").unstarted(() -> look(port));
        try (Servers servers = new Servers(session)) {
            servers.start(List.of(
                    EchoServers.millrace(home, "epoll", 1).named(ALONE),
                    EchoServers.millrace(home, "epoll", 1, "--console=0").named(NO_VIEWER),
                    with(EchoServers.millrace(home, "epoll", 1, "--console=" + port), "MILLRACE_CONSOLE_TOKEN", TOKEN)
                            .named(VIEWER),
                    java(EchoServers.millrace(home, "epoll", 1), "--add-modules jdk.jfr")
                            .named(OFF),
                    java(
                                    EchoServers.millrace(home, "epoll", 1),
                                    "--add-modules jdk.jfr -XX:StartFlightRecording:settings="
                                            + home.resolve("docs/millrace.jfc") + ",maxsize=16m,filename=" + recording
                                            + " -Xlog:jfr+startup=error") // the first line must be the server's
                            .named(ON)));
            viewer.start();
            for (int connections : quick ? List.of(1_000) : List.of(1_000, 10_000)) {
                session.compare(
                        new Comparison(
                                "watched-" + connections,
                                String.format(Locale.ROOT, "echo of 64 B, %,d connections, looked at", connections),
                                ALONE,
                                Load.MESSAGES,
                                servers.candidates(load, Workload.echo(connections), Window.of(quick, quick ? 3 : 10)),
                                List.of(
                                        Target.atMost(1.01, "cpuMicros", NO_VIEWER, ALONE),
                                        Target.atMost(1.01, "cpuMicros", VIEWER, ALONE),
                                        Target.atMost(1.01, "cpuMicros", OFF, ALONE))),
                        session.settings().rounds(3, 10));
            }
        } finally {
            viewer.interrupt();
        }
    }

    private static ServerProgram with(ServerProgram program, String name, String value) {
        Map<String, String> environment = new LinkedHashMap<>(program.environment());
        environment.put(name, value);
        return new ServerProgram(
                program.name(),
                program.command(),
                environment,
                program.loops(),
                program.compiles(),
                program.port(),
                program.missing());
    }

    private static ServerProgram java(ServerProgram program, String options) {
        return with(
                program,
                "JDK_JAVA_OPTIONS",
                program.environment().getOrDefault("JDK_JAVA_OPTIONS", "") + " " + options);
    }

    /** Asks as the page does: for the overview every second, and for the fullest connections every two. */
    private static void look(int port) {
        for (int i = 0; !Thread.currentThread().isInterrupted(); i++) {
            try {
                ask(port, "overview");
                if (i % 2 == 0) {
                    ask(port, "connections?sort=queued&descending");
                }
                Thread.sleep(1_000);
            } catch (InterruptedException e) {
                return;
            } catch (IOException e) {
                throw new IllegalStateException("the viewer cannot see the server", e);
            }
        }
    }

    private static void ask(int port, String what) throws IOException {
        HttpURLConnection request = (HttpURLConnection)
                URI.create("http://127.0.0.1:" + port + "/api/" + what).toURL().openConnection();
        request.setRequestProperty("X-Millrace-Token", TOKEN);
        try (InputStream answer = request.getInputStream()) {
            if (answer.readAllBytes().length == 0) {
                throw new IOException("an empty answer to " + what);
            }
        }
    }
}
