package io.millrace.bench.runner;

import io.millrace.bench.peers.ServerCpu;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A server process that has said {@code listening on 127.0.0.1:PORT (WHAT)}. */
final class Server implements AutoCloseable {
    private static final Pattern LISTENING = Pattern.compile("listening on 127\\.0\\.0\\.1:(\\d+) \\((.*)\\)");
    /** To hold thousands of connections takes poll(2), which walks over all of them for each, the better part of it. */
    private static final int PATIENCE_SECONDS = 120;

    static final int SETTLE_SECONDS = 20;

    private final Children children;
    private final Process process;
    private final int port;
    private final String what;
    private final double startMillis;

    private Server(Children children, Process process, int port, String what, double startMillis) {
        this.children = children;
        this.process = process;
        this.port = port;
        this.what = what;
        this.startMillis = startMillis;
    }

    /**
     * Starts a program, and waits until it listens.
     *
     * @throws IOException if it does not, with the last thing it said
     */
    static Server start(Children children, List<String> command, Map<String, String> environment, Path log)
            throws IOException, InterruptedException {
        Files.createDirectories(log.getParent());
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(log.toFile());
        builder.environment().putAll(environment);
        long begin = System.nanoTime();
        Process process = children.start(builder);
        BufferedReader out = process.inputReader();
        try {
            String line = firstLine(out);
            double millis = (System.nanoTime() - begin) / 1e6;
            Matcher matcher = LISTENING.matcher(line == null ? "" : line);
            if (matcher.matches()) {
                reader(() -> drain(out));
                return new Server(children, process, Integer.parseInt(matcher.group(1)), matcher.group(2), millis);
            }
            children.stop(process);
            throw new IOException(Children.reason(log, line == null ? "" : line));
        } catch (TimeoutException e) {
            children.stop(process);
            // Without the command: this is written down with the figures, and its paths are those of one machine.
            throw new IOException(
                    "did not say within " + PATIENCE_SECONDS
                            + " s that it is ready; what it said is in bench/target/run/" + log.getFileName(),
                    e);
        }
    }

    /** Whatever else it says is not ours to keep, but must not block it. */
    /**
     * Not a virtual thread. Each that reads from a process holds a carrier for as long as the process lives; and carriers that are made up for those end after a while without
     * work, so that a server which was started a minute after eleven others was never heard.
     */
    private static void reader(Runnable reading) {
        Thread.ofPlatform().daemon().name("reader of a server").start(reading);
    }

    private static void drain(BufferedReader out) {
        try {
            while (out.readLine() != null) {}
        } catch (IOException e) {
            // It has ended, and its pipe with it.
        }
    }

    /**
     * Starts a program that does not say when it listens: it does when it takes a connection.
     *
     * @param port where it was told to listen
     */
    static Server startOn(int port, Children children, List<String> command, Path log)
            throws IOException, InterruptedException {
        Files.createDirectories(log.getParent());
        long begin = System.nanoTime();
        Process process = children.start(new ProcessBuilder(command)
                .redirectError(log.toFile())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD));
        while (process.isAlive() && System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                return new Server(children, process, port, command.getLast(), (System.nanoTime() - begin) / 1e6);
            } catch (ConnectException e) {
                Thread.sleep(10); // not yet
            }
        }
        children.stop(process);
        throw new IOException("it took no connection: " + Children.reason(log, ""));
    }

    /** A port that is free now. */
    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static @Nullable String firstLine(BufferedReader out)
            throws IOException, InterruptedException, TimeoutException {
        CompletableFuture<@Nullable String> line = new CompletableFuture<>();
        reader(() -> {
            try {
                line.complete(out.readLine());
            } catch (IOException e) {
                line.completeExceptionally(e);
            }
        });
        try {
            return line.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        }
    }

    int port() {
        return port;
    }

    long pid() {
        return process.pid();
    }

    /** What it says it is. */
    String what() {
        return what;
    }

    /** From the start of the process to its line. */
    double startMillis() {
        return startMillis;
    }

    /**
     * Waits until it does nothing any more, so that it is not in the way of whoever is measured next on its core: to close thousands of connections takes a
     * server a while.
     *
     * @return false if it was still busy after seconds
     */
    boolean settle() throws InterruptedException {
        long begin = System.nanoTime();
        double before = ServerCpu.of(pid()).total();
        while (System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(SETTLE_SECONDS)) {
            Thread.sleep(50);
            double now = ServerCpu.of(pid()).total();
            if (!(now - before > 0.015)) { // more than a tick of its clock; NaN where nothing is known
                return true;
            }
            before = now;
        }
        return false;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    @Override
    public void close() throws InterruptedException {
        children.stop(process);
    }
}
