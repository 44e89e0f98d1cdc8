package io.millrace.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the script {@code ./millrace} builds and writes down before it starts the program. It runs in a working copy of its own, where {@code java} and {@code mvn} are scripts that
 * note how they were called; the real ones are started by who follows the README, and by {@link Cli}.
 */
@DisabledOnOs(OS.WINDOWS)
class LauncherTest {
    private static final Path LAUNCHER = Path.of("..", "millrace");
    private static final String TRAINING = "-XX:AOTCacheOutput=";
    /** Of everything that the tests put there. */
    private static final Instant LONG_AGO = Instant.parse("2026-01-01T00:00:00Z");

    @TempDir
    Path copy;

    private Path calls;
    private Path cache;
    private Path jar;

    @BeforeEach
    void makeWorkingCopy() throws IOException {
        calls = copy.resolve("calls");
        cache = copy.resolve("cli/target/millrace.aot");
        jar = copy.resolve("cli/target/lib/millrace-cli-1.jar");
        Files.createDirectories(jar.getParent());
        Files.createDirectories(copy.resolve("cli/src/main"));
        for (Path file : List.of(jar, copy.resolve("pom.xml"), copy.resolve("cli/pom.xml"))) {
            Files.createFile(file);
        }
        script(copy.resolve("millrace"), Files.readString(LAUNCHER));
        Files.writeString(copy.resolve("release"), "JAVA_VERSION=\"25\"\n");
        // It writes its cache when it ends, as Java does.
        script(copy.resolve("bin/java"), """
            #!/bin/sh
            echo "java $*" >>"$CALLS"
            case $1 in
              -XX:AOTCacheOutput=*)
                trap 'echo learned >"${1#*=}"; exit 143' TERM
                echo listening
                while :; do sleep 0.01; done ;;
            esac
            """);
        script(copy.resolve("bin/mvn"), """
            #!/bin/sh
            echo "mvn $*" >>"$CALLS"
            touch cli/target/lib/millrace-cli-1.jar
            """);
        for (Path file : List.of(
                jar,
                jar.getParent(),
                copy.resolve("pom.xml"),
                copy.resolve("cli/pom.xml"),
                copy.resolve("cli/src/main"))) {
            Files.setLastModifiedTime(file, FileTime.from(LONG_AGO));
        }
    }

    private static void script(Path file, String text) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /** Starts it, and returns how java and mvn were called. */
    private List<String> launch() throws IOException, InterruptedException {
        Files.deleteIfExists(calls);
        ProcessBuilder builder =
                new ProcessBuilder(copy.resolve("millrace").toString(), "serve", "echo").redirectErrorStream(true);
        builder.redirectOutput(copy.resolve("output").toFile());
        builder.environment().put("JAVA_HOME", copy.toString());
        builder.environment().put("CALLS", calls.toString());
        builder.environment().merge("PATH", copy.resolve("bin").toString(), (path, bin) -> bin + ":" + path);
        Process process = builder.start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue())
                .as(Files.readString(copy.resolve("output")))
                .isZero();
        return Files.readAllLines(calls);
    }

    private static void age(Path file, int seconds) throws IOException {
        Files.setLastModifiedTime(file, FileTime.from(LONG_AGO.plusSeconds(seconds)));
    }

    @Test
    void theFirstStartWritesTheCacheAndTheProgramUsesIt() throws Exception {
        List<String> first = launch();

        assertThat(first).hasSize(2);
        assertThat(first.getFirst()).contains(TRAINING);
        assertThat(first.getLast())
                .contains("-XX:AOTCache=" + cache.toRealPath())
                .endsWith("serve echo");
        assertThat(cache).hasContent("learned");
        assertThat(launch()).containsExactly(first.getLast());
    }

    @Test
    void jarsThatAreNewerThanTheCacheHaveItWrittenAgain() throws Exception {
        Files.writeString(cache, "of older jars");
        age(cache, 1);
        age(jar, 2);

        assertThat(launch()).hasSize(2).first().asString().contains(TRAINING);
        assertThat(cache).hasContent("learned");
    }

    @Test
    void anEmptyCacheSaysThatThereIsNoUseInTrying() throws Exception {
        Files.createFile(cache);

        assertThat(launch()).singleElement().asString().doesNotContain("AOT").endsWith("serve echo");
    }

    @Test
    void aSourceThatIsNewerThanTheJarsHasThemBuiltAndLearnedAgain() throws Exception {
        Files.writeString(cache, "of older jars");
        age(cache, 1);
        age(copy.resolve("cli/src/main"), 2);

        List<String> called = launch();

        assertThat(called).hasSize(3);
        assertThat(called.getFirst()).startsWith("mvn ").contains("-pl cli -am package");
        assertThat(called.get(1)).contains(TRAINING);
        assertThat(launch()).containsExactly(called.getLast());
    }
}
