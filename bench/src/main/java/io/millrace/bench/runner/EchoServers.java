package io.millrace.bench.runner;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The echo servers that are measured. */
final class EchoServers {
    private EchoServers() {}

    /** All that take part, with one loop each. */
    static List<ServerProgram> all(Path home, Native peers) {
        List<ServerProgram> all = new ArrayList<>();
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

    static ServerProgram c(Native peers, int loops, String... more) {
        return ServerProgram.compiled(peers, "raw C epoll", "echo_epoll", loops, arguments(loops, more));
    }

    private static ServerProgram nativePeer(Native peers, String name, String program) {
        return ServerProgram.compiled(peers, name, program, 1, arguments(1));
    }

    /** Ours, on a backend. */
    static ServerProgram millrace(Path home, String backend, int loops, String... more) {
        List<String> arguments = new ArrayList<>(List.of("serve", "echo", "--backend", backend));
        arguments.addAll(arguments(loops, more));
        return ServerProgram.launched(home, "Millrace " + backend, loops, arguments.toArray(String[]::new));
    }

    static ServerProgram netty(Path home, String transport, int loops) {
        return jvmPeer(home, "Netty " + transport, "NettyEcho", loops, "--transport", transport);
    }

    static ServerProgram nioByHand(Path home) {
        return jvmPeer(home, "java.nio by hand", "NioEcho", 1);
    }

    /** HTTP/1.1 on Netty, with the same answer to everything. */
    static ServerProgram nettyHttp(Path home, String transport) {
        return jvmPeer(home, "Netty " + transport, "NettyHttp", 1, "--transport", transport);
    }

    /** gRPC on Netty, which sends back what it gets. */
    static ServerProgram grpc(Path home, String transport) {
        return jvmPeer(home, "gRPC, Netty " + transport, "GrpcEcho", 1, "--transport", transport);
    }

    /** Ours in another style: what {@code serve echo} has options for. */
    static ServerProgram millrace(Path home, String name, List<String> options) {
        return millrace(home, "epoll", 1, options.toArray(String[]::new)).named(name);
    }

    /** The JDK's blocking sockets, and a virtual thread for each connection. */
    static ServerProgram sockets(Path home) {
        return jvmPeer(home, "JDK sockets, virtual threads", "SocketEcho", 1);
    }

    /** No echo: asks a server on another port for each answer. */
    static ServerProgram downstream(Path home, String name, String style, int port) {
        ServerProgram program =
                jvmPeer(home, name, "Downstream", 1, "--style", style, "--downstream", Integer.toString(port));
        List<String> command = new ArrayList<>(program.command());
        command.add(1, "--add-opens=java.base/java.lang=ALL-UNNAMED"); // as the launcher opens it
        return ServerProgram.jvm(name, command, 1);
    }

    /** Netty with TLS, by the JDK's engine or by tcnative. */
    static ServerProgram nettyTls(Path home, String name, String provider, Certificate certificate) {
        return jvmPeer(
                home,
                name,
                "NettyEcho",
                1,
                "--transport",
                "epoll",
                "--tls",
                provider,
                "--cert",
                certificate.chain().toString(),
                "--key",
                certificate.key().toString());
    }

    /** No echo: answers with a file. */
    static ServerProgram sendFile(Path home, String backend, Path file) {
        return jvmPeer(home, "Millrace " + backend, "FileServer", 1, "--backend", backend, "--file", file.toString());
    }

    private static ServerProgram jvmPeer(Path home, String name, String program, int loops, String... more) {
        List<String> command = new ArrayList<>(ServerProgram.java(home));
        command.add("io.millrace.bench.peers." + program);
        command.addAll(arguments(loops, more));
        return ServerProgram.jvm(name, command, loops);
    }

    private static List<String> arguments(int loops, String... more) {
        return ServerProgram.joined(List.of("--port", "0", "--loops", Integer.toString(loops)), List.of(more));
    }
}
