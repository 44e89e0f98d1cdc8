package io.millrace.testkit;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/** A server of others on a free port of the loopback interface, with a folder of its own; ended by kill -9. */
final class ServerProcess {
    private final int port;
    private final Path folder;
    private final List<String> command;
    private final Predicate<Socket> answers;
    private @Nullable Process process;

    /**
     * Starts one.
     *
     * @param program also the name of its Debian package
     * @param arguments from its port and folder
     * @param answers whether it answers on a new connection
     */
    ServerProcess(String program, BiFunction<Integer, Path, List<String>> arguments, Predicate<Socket> answers)
            throws IOException {
        require(program);
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            this.port = free.getLocalPort();
        }
        this.folder = Files.createTempDirectory("millrace-" + program);
        this.command = Stream.concat(Stream.of(program), arguments.apply(port, folder).stream())
                .toList();
        this.answers = answers;
        start();
    }

    /** Where it is missing, its tests are skipped, or fail if they must not be. */
    static void require(String program) {
        for (String directory : System.getenv("PATH").split(File.pathSeparator, -1)) {
            if (Files.isExecutable(Path.of(directory, program))) {
                return;
            }
        }
        String reason = program + " is not installed; sudo apt-get install -y " + program;
        String required = System.getenv("MILLRACE_REQUIRE_TOOLS");
        if (required != null && !required.isEmpty() && !required.equals("0")) {
            throw new AssertionError(reason + ". MILLRACE_REQUIRE_TOOLS is set, so its tests must not be skipped.");
        }
        System.out.println("SKIPPED: " + reason);
        Assumptions.abort(reason);
    }

    int port() {
        return port;
    }

    void start() throws IOException {
        process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("log").toFile())
                .start();
        Await.until(command.getFirst() + " answers", this::answers);
    }

    private boolean answers() {
        try (Socket socket = connect()) {
            return answers.test(socket);
        } catch (IOException e) {
            return false;
        }
    }

    Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(10_000);
        return socket;
    }

    void kill() {
        if (process != null) {
            process.destroyForcibly().onExit().orTimeout(10, TimeUnit.SECONDS).join();
            process = null;
        }
    }

    void forget() throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path one : all.sorted(Comparator.reverseOrder()).toList()) {
                if (!one.equals(folder)) {
                    Files.delete(one);
                }
            }
        }
    }

    void close() throws IOException {
        kill();
        forget();
        Files.delete(folder);
    }

    /** Returns the first byte that it sends; -1 for none. */
    static int firstByte(Socket socket, String asked) {
        try {
            socket.getOutputStream().write(asked.getBytes(StandardCharsets.US_ASCII));
            return socket.getInputStream().read();
        } catch (IOException e) {
            return -1;
        }
    }
}
