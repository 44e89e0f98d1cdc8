package io.millrace.conformance;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What another JVM, started with other options over the same class path, had to say.
 *
 * @param exit its exit code
 * @param output what it printed, errors included
 */
record ChildJvm(int exit, String output) {
    private static final int DEADLINE_SECONDS = 30;

    /** Runs {@code main} of a class to its end. */
    static ChildJvm run(Class<?> main, List<String> options, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(
                List.of("-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp", System.getProperty("java.class.path")));
        command.add(main.getName());
        command.addAll(List.of(arguments));
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("the child JVM does not end; so far it said: " + output);
            }
            return new ChildJvm(process.exitValue(), output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while a child JVM ran", e);
        }
    }
}
