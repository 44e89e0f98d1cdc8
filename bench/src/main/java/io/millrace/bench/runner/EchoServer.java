package io.millrace.bench.runner;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How to start an echo server, ours or a peer's. All JVMs get the same collector; nothing else is set for any of them.
 *
 * @param name in the tables
 * @param command its program and arguments
 * @param environment what is added to ours
 * @param loops how many threads serve
 * @param compiles whether it runs on a JVM, so that it must be warm before it is measured
 * @param missing why it cannot be started; null if it can
 */
record EchoServer(
        String name,
        List<String> command,
        Map<String, String> environment,
        int loops,
        boolean compiles,
        @Nullable String missing) {
    /** The simplest, and what a JVM on one core takes anyway. */
    static final String COLLECTOR = "-XX:+UseSerialGC";

    /** All that take part, with one loop each. */
    static List<EchoServer> all(Path home, Native peers) {
        List<EchoServer> all = new ArrayList<>();
        all.add(c(peers, 1));
        all.add(nativePeer(peers, "libuv", "echo_uv"));
        all.add(nativePeer(peers, "mio", "echo_mio"));
        all.add(nativePeer(peers, "tokio", "echo_tokio"));
        for (String backend : List.of("epoll", "poll", "nio")) {
            all.add(millrace(home, backend, 1));
        }
        for (String transport : List.of("epoll", "io_uring", "nio")) {
            all.add(netty(home, transport, 1));
        }
        all.add(nioByHand(home));
        return all;
    }

    static EchoServer c(Native peers, int loops, String... more) {
        return compiled(peers, "raw C epoll", "echo_epoll", loops, more);
    }

    private static EchoServer nativePeer(Native peers, String name, String program) {
        return compiled(peers, name, program, 1);
    }

    private static EchoServer compiled(Native peers, String name, String program, int loops, String... more) {
        List<String> command = new ArrayList<>(List.of(peers.path(program).toString()));
        command.addAll(arguments(loops, more));
        return new EchoServer(name, command, Map.of(), loops, false, peers.missing(program));
    }

    /** Ours, on a backend. */
    static EchoServer millrace(Path home, String backend, int loops, String... more) {
        List<String> arguments = new ArrayList<>(List.of("--backend", backend));
        arguments.addAll(arguments(loops, more));
        return launched(home, "Millrace " + backend, "echo", arguments.toArray(String[]::new))
                .withLoops(loops);
    }

    /** As shipped: by the launcher, with its flags and the defaults of {@code serve}. */
    static EchoServer launched(Path home, String name, String service, String... arguments) {
        List<String> command = new ArrayList<>(List.of(home.resolve("millrace").toString(), "serve", service));
        command.addAll(List.of(arguments));
        Map<String, String> environment = new LinkedHashMap<>();
        environment.put("JAVA_HOME", System.getProperty("java.home"));
        environment.put("JDK_JAVA_OPTIONS", COLLECTOR);
        return new EchoServer(name, command, environment, 1, true, null);
    }

    static EchoServer netty(Path home, String transport, int loops) {
        return jvmPeer(home, "Netty " + transport, "NettyEcho", loops, "--transport", transport);
    }

    static EchoServer nioByHand(Path home) {
        return jvmPeer(home, "java.nio by hand", "NioEcho", 1);
    }

    /** No echo: answers with a file. */
    static EchoServer sendFile(Path home, String backend, Path file) {
        return jvmPeer(home, "Millrace " + backend, "FileServer", 1, "--backend", backend, "--file", file.toString());
    }

    private static EchoServer jvmPeer(Path home, String name, String program, int loops, String... more) {
        List<String> command = new ArrayList<>(java(home));
        command.add("io.millrace.bench.peers." + program);
        command.addAll(arguments(loops, more));
        return new EchoServer(name, command, Map.of(), loops, true, null);
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

    private static List<String> arguments(int loops, String... more) {
        List<String> arguments = new ArrayList<>(List.of("--port", "0", "--loops", Integer.toString(loops)));
        arguments.addAll(List.of(more));
        return arguments;
    }

    /** Its command line, for the record. */
    String shown(Path home) {
        String options = environment.get("JDK_JAVA_OPTIONS");
        return (options == null ? "" : "JDK_JAVA_OPTIONS=" + options + " ") + Tools.shown(home, command);
    }

    private EchoServer withLoops(int count) {
        return new EchoServer(name, command, environment, count, compiles, missing);
    }

    EchoServer named(String other) {
        return new EchoServer(other, command, environment, loops, compiles, missing);
    }
}
