package io.millrace.bench.runner;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * The processes that were started and have not ended. None of them survives this one: whatever ends it, Ctrl-C included, ends them first: they are asked to, and
 * killed if they are still there {@link #GRACE_MILLIS} later.
 */
final class Children implements AutoCloseable {
    private static final long GRACE_MILLIS = 2_000;
    private static final Pattern EXCEPTION = Pattern.compile("^[\\w.$]+\\.\\w*(Exception|Error)\\b");

    private final Set<Process> running = new LinkedHashSet<>();
    private boolean ending;

    /** Ends the children when the JVM ends. */
    static Children open() {
        Children children = new Children();
        Runtime.getRuntime().addShutdownHook(new Thread(children::close, "end-children"));
        return children;
    }

    Process start(ProcessBuilder builder) throws IOException, InterruptedException {
        synchronized (this) {
            if (!ending) {
                running.removeIf(process -> !process.isAlive());
                Process process = builder.start();
                running.add(process);
                return process;
            }
        }
        haltIfEnding();
        throw new AssertionError("the end does not end");
    }

    /** What fails while the children are being ended fails because of that. The JVM ends soon; the caller says nothing and does nothing more. */
    void haltIfEnding() throws InterruptedException {
        boolean halt;
        synchronized (this) {
            halt = ending;
        }
        if (halt) {
            Thread.currentThread().join();
        }
    }

    /**
     * Runs a program to its end.
     *
     * @param what for the message
     * @return what it wrote to standard output
     * @throws IOException if it fails, with what it said
     */
    String run(String what, Path log, List<String> command) throws IOException, InterruptedException {
        Files.createDirectories(log.getParent());
        Process process = start(new ProcessBuilder(command)
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .redirectError(log.toFile()));
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status = process.waitFor();
        haltIfEnding();
        if (status != 0) {
            String reason = reason(log, out);
            Files.writeString(log, out, StandardOpenOption.APPEND);
            throw new IOException(what + " failed with status " + status + ": " + reason);
        }
        return out;
    }

    /** Why a program failed, in one line: its first exception, or else the last thing it said. */
    static String reason(Path log, String out) throws IOException {
        List<String> lines = new ArrayList<>(out.lines().toList());
        lines.addAll(Files.readAllLines(log));
        return lines.stream()
                .filter(line -> EXCEPTION.matcher(line).find())
                .findFirst()
                .or(() -> lines.reversed().stream()
                        .filter(line -> !line.isBlank())
                        .findFirst())
                .orElse("it said nothing");
    }

    void stop(Process process) throws InterruptedException {
        process.destroy();
        if (!process.waitFor(GRACE_MILLIS, TimeUnit.MILLISECONDS)) {
            process.destroyForcibly().waitFor();
        }
    }

    @Override
    public void close() {
        List<Process> left;
        synchronized (this) {
            ending = true;
            left = List.copyOf(running);
        }
        left.forEach(Process::destroy);
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(GRACE_MILLIS);
        try {
            for (Process process : left) {
                if (!process.waitFor(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                    process.destroyForcibly().waitFor();
                }
            }
        } catch (InterruptedException e) {
            left.forEach(Process::destroyForcibly);
            Thread.currentThread().interrupt();
        }
    }
}
