package io.millrace.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The program, in a process of its own, as the launcher starts it: on the module path of this test run, without the tests. */
public final class Cli implements AutoCloseable {
    private static final long DEADLINE_SECONDS = 50;
    private static final Pattern LISTENING =
            Pattern.compile("listening on 127\\.0\\.0\\.1:(\\d+) \\((\\w+), backend (\\w+), (\\d+) loops?"
                    + "(?:, direct style, virtual threads on (the loops|the JDK's scheduler))?\\)");

    private static final Pattern SOCKET = Pattern.compile("socket:\\[(\\d+)]");
    private static final String LISTEN = "0A"; // TCP_LISTEN in /proc/net/tcp

    private final Process process;
    private final BufferedReader out;

    private Cli(Process process) {
        this.process = process;
        this.out = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Starts it; nobody waits. */
    public static Cli start(String... args) throws IOException {
        return startWith("", List.of(), args);
    }

    /** Starts a server on a free port, with everything that the tests have: on the class path, as a program of a user may be. */
    public static Cli serveOnClassPath(String... args) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                Stream.of(System.getProperty("jdk.module.path"), System.getProperty("java.class.path"))
                        .filter(path -> path != null && !path.isEmpty())
                        .collect(Collectors.joining(File.pathSeparator)),
                Main.class.getName(),
                "serve"));
        command.addAll(List.of(args));
        command.addAll(List.of("--port", "0"));
        return new Cli(new ProcessBuilder(command).start());
    }

    /** Starts it after some commands of the shell, with more options of Java. */
    static Cli startWith(String shell, List<String> options, String... args) throws IOException {
        return startBy(shell.isEmpty() ? List.of() : List.of("sh", "-c", shell + "; exec \"$@\"", "sh"), options, args);
    }

    /** Starts it by a program that becomes the one that its last words name. */
    static Cli startBy(List<String> launcher, List<String> options, String... args) throws IOException {
        List<String> command = new ArrayList<>(launcher);
        if (System.getProperty("os.name").equals("Linux")) {
            // Whoever runs the tests in the background ignores Ctrl-C, and a JVM leaves ignored what was.
            command.addAll(List.of("env", "--default-signal=INT"));
        }
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")); // it lives for seconds
        command.addAll(options);
        String modules = System.getProperty("jdk.module.path");
        if (options.stream().noneMatch(option -> option.startsWith("--illegal-native-access="))) {
            command.add("--enable-native-access=" + (modules == null ? "ALL-UNNAMED" : "io.millrace.sys"));
        }
        if (modules == null) {
            command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
        } else {
            command.addAll(List.of("-p", modules, "-m", "io.millrace.cli/" + Main.class.getName()));
        }
        command.addAll(List.of(args));
        return new Cli(new ProcessBuilder(command).start());
    }

    /** Starts a server on a free port. */
    public static Cli serve(String... args) throws IOException {
        return serveWith(List.of(), args);
    }

    /** The same, with options of the JVM. */
    public static Cli serveWith(List<String> jvm, String... args) throws IOException {
        return serveBy(List.of(), jvm, args);
    }

    /** The same, by such a program. */
    static Cli serveBy(List<String> launcher, List<String> jvm, String... args) throws IOException {
        List<String> all = new ArrayList<>(List.of("serve"));
        all.addAll(List.of(args));
        all.addAll(List.of("--port", "0"));
        return startBy(launcher, jvm, all.toArray(String[]::new));
    }

    /** Waits for the first line, and reads the port out of it. */
    public int port() throws IOException {
        return Integer.parseInt(listening().group(1));
    }

    /** Waits for the first line, of a server that has no port. */
    public String firstLine() throws IOException {
        return String.valueOf(out.readLine());
    }

    public Matcher listening() throws IOException {
        String line = out.readLine();
        assertThat(line).as("first line; %s", line == null ? errors() : "").matches(LISTENING);
        Matcher matcher = LISTENING.matcher(line);
        assertThat(matcher.matches()).isTrue();
        return matcher;
    }

    /** The port of its only listener by /proc, for a program that cannot say it. */
    OptionalInt portAsTheKernelSees() throws IOException {
        Set<String> inodes = new HashSet<>();
        try (DirectoryStream<Path> fds = Files.newDirectoryStream(Path.of("/proc", "" + process.pid(), "fd"))) {
            for (Path fd : fds) {
                Matcher socket = SOCKET.matcher(Files.isSymbolicLink(fd) ? linkOf(fd) : "");
                if (socket.matches()) {
                    inodes.add(socket.group(1));
                }
            }
        }
        for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
            for (String line : Files.readAllLines(Path.of(table))) {
                String[] columns = line.strip().split("\\s+");
                if (columns[3].equals(LISTEN) && inodes.contains(columns[9])) {
                    String local = columns[1];
                    return OptionalInt.of(Integer.parseInt(local.substring(local.lastIndexOf(':') + 1), 16));
                }
            }
        }
        return OptionalInt.empty();
    }

    private static String linkOf(Path fd) throws IOException {
        try {
            return Files.readSymbolicLink(fd).toString();
        } catch (NoSuchFileException _) {
            return ""; // closed since the directory was read
        }
    }

    public static Socket connect(int port) throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), port);
    }

    long pid() {
        return process.pid();
    }

    public void signal(String name) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    /** The next line on standard output. */
    String line() throws IOException {
        return out.readLine();
    }

    /** All further lines on standard output, until it ends. */
    public List<String> rest() {
        return out.lines().toList();
    }

    public String errors() throws IOException {
        return new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    /** Reads from standard error until a line contains this. */
    void awaitError(String text) throws IOException {
        StringBuilder said = new StringBuilder();
        while (!said.toString().contains(text)) {
            int next = process.getErrorStream().read();
            assertThat(next).as("%s", said).isNotEqualTo(-1);
            said.append((char) next);
        }
    }

    public int exit() throws InterruptedException {
        assertThat(process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
        return process.exitValue();
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        out.close();
    }
}
