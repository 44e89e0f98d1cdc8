package io.millrace.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** An example that runs as a program of its own. */
public final class Program implements AutoCloseable {
    private static final long DEADLINE_SECONDS = 30;
    private static final Pattern PORT = Pattern.compile(".*(?:127\\.0\\.0\\.1:|listening on )(\\d+).*");

    private final Process process;
    private final BufferedReader out;

    private Program(Process process) {
        this.process = process;
        this.out = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Starts an example in this folder. */
    public static Program start(Class<?> main, String... args) throws IOException {
        return startIn(Path.of("."), main, args);
    }

    /** Starts an example in a folder of its own. */
    public static Program startIn(Path folder, Class<?> main, String... args) throws IOException {
        return new Program(new ProcessBuilder(command(main, null, args))
                .directory(folder.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    /** What starts an example. */
    static List<String> command(Class<?> main, @Nullable String backend, String... args) {
        List<String> command = new ArrayList<>();
        if (System.getProperty("os.name").equals("Linux")) {
            // Whoever runs the tests in the background ignores Ctrl-C, and a JVM leaves ignored what was.
            command.addAll(List.of("env", "--default-signal=INT"));
        }
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("--enable-native-access=ALL-UNNAMED");
        command.add("--add-opens=java.base/java.lang=ALL-UNNAMED"); // as docs/direct.md says
        if (backend != null) {
            command.add("-Dmillrace.backend=" + backend);
        }
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-cp", classPath(), main.getName()));
        command.addAll(List.of(args));
        return command;
    }

    /** The tests run on the module path; a plain program is started on the class path, which needs the same jars. */
    private static String classPath() {
        String modules = System.getProperty("jdk.module.path");
        String classes = System.getProperty("java.class.path");
        String own = Path.of("target").toAbsolutePath().toString();
        assumeTrue(
                modules != null || classes != null, "neither a module path nor a class path: cannot start a program");
        return Stream.of(modules, classes, own)
                .filter(part -> part != null && !part.isEmpty())
                .reduce((a, b) -> a + File.pathSeparator + b)
                .orElseThrow();
    }

    /** The next line that it prints. */
    public String line() throws IOException {
        return String.valueOf(out.readLine());
    }

    /** All lines until it ends. */
    public List<String> lines() {
        return out.lines().toList();
    }

    /** The port in the next line that it prints. */
    public int port() throws IOException {
        String line = line();
        Matcher port = PORT.matcher(line);
        assertThat(port.matches()).as(line).isTrue();
        return Integer.parseInt(port.group(1));
    }

    /** A connection to a port, whose reads do not wait for ever. */
    public static Socket connect(int port) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout((int) TimeUnit.SECONDS.toMillis(DEADLINE_SECONDS));
        return socket;
    }

    /** Writes a line to a socket. */
    public static void say(Socket socket, String line) throws IOException {
        socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** Reads lines from a socket, which must be these. */
    public static void hear(Socket socket, String... lines) throws IOException {
        for (String line : lines) {
            assertThat(socket.getInputStream().readNBytes(line.getBytes(StandardCharsets.UTF_8).length + 1))
                    .asString(StandardCharsets.UTF_8)
                    .isEqualTo(line + "\n");
        }
    }

    /** Presses Enter. */
    public void pressEnter() throws IOException {
        process.outputWriter(StandardCharsets.UTF_8).append("\n").flush();
    }

    /** Sends a signal. */
    public void kill(String signal) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    /** Waits for its end, which must be a good one. */
    public void endsWell() throws InterruptedException {
        assertThat(process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isZero();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
