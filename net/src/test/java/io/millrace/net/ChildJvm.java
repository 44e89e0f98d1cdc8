package io.millrace.net;

import io.millrace.poll.Poll;
import io.millrace.sys.selector.Backends;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Another JVM over the classes under test, on the class path, whatever way this one was started. */
final class ChildJvm implements AutoCloseable {
    private static final int DEADLINE_SECONDS = 30;

    private final Process process;
    private final BufferedReader output;

    private ChildJvm(Process process) {
        this.process = process;
        this.output = process.inputReader();
    }

    static ChildJvm start(Class<?> main, List<String> options, String... arguments) throws Exception {
        return start(new ProcessBuilder(command(main, options, arguments)));
    }

    static ChildJvm start(ProcessBuilder builder) throws IOException {
        return new ChildJvm(
                builder.redirectError(ProcessBuilder.Redirect.INHERIT).start());
    }

    static List<String> command(Class<?> main, List<String> options, String... arguments) throws Exception {
        List<String> command = new ArrayList<>();
        if (System.getProperty("os.name").equals("Linux")) {
            // Whoever runs the tests by nohup or in the background ignores these, and a JVM leaves ignored what was.
            command.addAll(List.of("env", "--default-signal=HUP,INT"));
        }
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED"));
        command.addAll(options);
        command.add("-cp");
        command.add(classPath(main));
        command.add(main.getName());
        command.addAll(List.of(arguments));
        return command;
    }

    private static String classPath(Class<?> main) throws Exception {
        Set<String> places = new LinkedHashSet<>();
        for (Class<?> type : List.of(
                main,
                Net.class,
                Poll.class,
                Backends.class,
                Class.forName("org.jctools.queues.varhandle.MpscVarHandleArrayQueue"),
                Class.forName("org.jctools.queues.MessagePassingQueue"))) {
            places.add(placeOf(type));
        }
        return places.stream().collect(Collectors.joining(System.getProperty("path.separator")));
    }

    /** Where the class itself lies: a test class lies elsewhere than the module that it is patched into. */
    private static String placeOf(Class<?> type) throws URISyntaxException {
        String file = type.getName().replace('.', '/') + ".class";
        URL url = Objects.requireNonNull(
                type.getResource("/" + file) != null
                        ? type.getResource("/" + file)
                        : type.getResource(file.substring(file.lastIndexOf('/') + 1)),
                file);
        String text = url.toString();
        text = text.substring(0, text.length() - file.length());
        if (text.startsWith("jar:")) {
            text = text.substring("jar:".length(), text.length() - "!/".length());
        }
        return Path.of(URI.create(text)).toString();
    }

    Process process() {
        return process;
    }

    /** The next line that it prints; null at the end. */
    String line() throws IOException {
        return output.readLine();
    }

    /** Everything that it prints from now on. */
    String rest() {
        return output.lines().collect(Collectors.joining("\n"));
    }

    int exit() throws InterruptedException {
        if (!process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("the child JVM does not end");
        }
        return process.exitValue();
    }

    /** By another process, from outside. */
    void kill(String signal) throws Exception {
        int exit = new ProcessBuilder("sh", "-c", "kill -" + signal + " " + process.pid())
                .inheritIO()
                .start()
                .waitFor();
        if (exit != 0) {
            throw new AssertionError("cannot send " + signal);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
