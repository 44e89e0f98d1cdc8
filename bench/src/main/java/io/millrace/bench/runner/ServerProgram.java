package io.millrace.bench.runner;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How to start a server, ours or a peer's. All JVMs get the same collector; nothing else is set for any of them.
 *
 * @param name in the tables
 * @param command its program and arguments
 * @param environment what is added to ours
 * @param loops how many threads serve
 * @param compiles whether it runs on a JVM, so that it must be warm before it is measured
 * @param port where it was told to listen; 0 if it says so itself
 * @param missing why it cannot be started; null if it can
 */
record ServerProgram(
        String name,
        List<String> command,
        Map<String, String> environment,
        int loops,
        boolean compiles,
        int port,
        @Nullable String missing) {
    /** The simplest, and what a JVM on one core takes anyway. */
    static final String COLLECTOR = "-XX:+UseSerialGC";

    /** One that {@code bench/native/build} makes. */
    static ServerProgram compiled(Native peers, String name, String program, int loops, List<String> arguments) {
        return new ServerProgram(
                name,
                joined(List.of(peers.path(program).toString()), arguments),
                Map.of(),
                loops,
                false,
                0,
                peers.missing(program));
    }

    /** As shipped: by the launcher, with its flags and the defaults of the command. */
    static ServerProgram launched(Path home, String name, int loops, String... arguments) {
        Map<String, String> environment = new LinkedHashMap<>();
        environment.put("JAVA_HOME", System.getProperty("java.home"));
        environment.put("JDK_JAVA_OPTIONS", COLLECTOR);
        List<String> command = joined(List.of(home.resolve("millrace").toString()), List.of(arguments));
        return new ServerProgram(name, command, environment, loops, true, 0, null);
    }

    /** One that runs on a JVM without the launcher. */
    static ServerProgram jvm(String name, List<String> command, int loops) {
        return new ServerProgram(name, command, Map.of(), loops, true, 0, null);
    }

    /** One of this machine, which does not say where it listens. */
    static ServerProgram installed(String name, int port, List<String> command) {
        return new ServerProgram(name, command, Map.of(), 1, false, port, null);
    }

    /** One that this machine has not. */
    static ServerProgram notInstalled(String name, String packages) {
        String missing = "it is not installed; install: sudo apt-get install -y " + packages;
        return new ServerProgram(name, List.of(), Map.of(), 1, false, 0, missing);
    }

    /** A JVM with the class path of bench. */
    static List<String> java(Path home) {
        return List.of(
                Tools.jdk("java"),
                COLLECTOR,
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                home.resolve("bench/target/lib") + "/*");
    }

    static List<String> joined(List<String> some, List<String> more) {
        List<String> all = new ArrayList<>(some);
        all.addAll(more);
        return all;
    }

    /** Its command line, for the record. */
    String shown(Path home) {
        String options = environment.get("JDK_JAVA_OPTIONS");
        return (options == null ? "" : "JDK_JAVA_OPTIONS=" + options + " ") + Tools.shown(home, command);
    }

    ServerProgram named(String other) {
        return new ServerProgram(other, command, environment, loops, compiles, port, missing);
    }

    /** Starts it on the cores of servers, and waits until it listens. */
    Server start(Session session) throws IOException, InterruptedException {
        return start(session, Pinning.server(loops, command));
    }

    /** Starts it where the load is, beside which it serves. */
    Server startBesideLoad(Session session) throws IOException, InterruptedException {
        return start(session, Pinning.load(command));
    }

    /** Starts it on all cores. */
    Server startAnywhere(Session session) throws IOException, InterruptedException {
        return start(session, command);
    }

    private Server start(Session session, List<String> pinned) throws IOException, InterruptedException {
        Path log = session.log(name);
        return port == 0
                ? Server.start(session.children(), pinned, environment, log)
                : Server.startOn(port, session.children(), pinned, log);
    }
}
