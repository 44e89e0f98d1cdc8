package io.millrace.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What the script {@code ./millrace} builds and writes down before it starts the program. It runs in a working copy of its own, where {@code java} and {@code mvn} are scripts that
 * note how they were called; the real ones are started by who follows the README, and by {@link Cli}.
 */
@DisabledOnOs(OS.WINDOWS)
class LauncherTest {
    private static final Path LAUNCHER = Path.of("..", "millrace");
    private static final String TRAINING = "-XX:AOTMode=record";
    private static final String WRITING = "-XX:AOTMode=create";
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
        // A recording ends when it is told to, and only then writes; a creation may be made to take for ever.
        script(copy.resolve("bin/java"), """
            #!/bin/sh
            echo "java $*" >>"$CALLS"
            for word in "$@"; do
              case $word in
                -XX:AOTConfiguration=*) config=${word#*=} ;;
                -XX:AOTCache=*) cache=${word#*=} ;;
              esac
            done
            case $* in
              *-XX:AOTMode=record*)
                trap 'echo learned >"$config"; exit 143' TERM
                echo $$ >>"$CALLS.pids"
                [ "$STUCK" = record ] || echo listening
                while :; do sleep 0.01; done ;;
              *-XX:AOTMode=create*)
                cp "$config" "$cache"
                echo $$ >>"$CALLS.pids"
                while [ "$STUCK" = create ]; do sleep 0.01; done ;;
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
        assertThat(exitOf(start("nowhere")))
                .as(Files.readString(copy.resolve("output")))
                .isZero();
        return Files.readAllLines(calls);
    }

    private static int exitOf(Process process) throws InterruptedException {
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return process.exitValue();
    }

    /** Starts it; the training hangs where it is told to. */
    private Process start(String stuck) throws IOException {
        return start(stuck, "serve", "echo");
    }

    private Process start(String stuck, String... words) throws IOException {
        List<String> command = new ArrayList<>();
        if (OS.LINUX.isCurrentOs()) {
            // Whoever runs the tests in the background ignores Ctrl-C, and a shell cannot change that.
            command.addAll(List.of("env", "--default-signal=HUP,INT,TERM"));
        }
        command.add(copy.resolve("millrace").toString());
        command.addAll(List.of(words));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.redirectErrorStream(true).redirectOutput(copy.resolve("output").toFile());
        builder.environment().put("JAVA_HOME", copy.toString());
        builder.environment().put("CALLS", calls.toString());
        builder.environment().put("STUCK", stuck);
        builder.environment().merge("PATH", copy.resolve("bin").toString(), (path, bin) -> bin + ":" + path);
        return builder.start();
    }

    private static void age(Path file, int seconds) throws IOException {
        Files.setLastModifiedTime(file, FileTime.from(LONG_AGO.plusSeconds(seconds)));
    }

    @Test
    void theFirstStartWritesTheCacheAndTheProgramUsesIt() throws Exception {
        List<String> first = launch();

        assertThat(first).hasSize(3);
        assertThat(first.getFirst()).contains(TRAINING);
        assertThat(first.get(1)).contains(WRITING);
        assertThat(first.getLast())
                .contains("-XX:AOTCache=" + cache.toRealPath())
                .endsWith("serve echo");
        assertThat(cache).hasContent("learned");
        assertThat(launch()).containsExactly(first.getLast());
    }

    @Test
    void theTrainingHasTheOptionsOfTheProgram() throws Exception {
        assertThat(launch())
                .hasSize(3)
                .allSatisfy(call -> assertThat(call)
                        .contains("--enable-native-access=io.millrace.sys", "-XX:+ExitOnOutOfMemoryError"));
    }

    @ParameterizedTest
    @CsvSource({"record,TERM,143", "record,INT,130", "record,HUP,129", "create,TERM,143", "create,INT,130"})
    void aSignalDuringTheTrainingEndsItAndLeavesNothing(String stuck, String signal, int status) throws Exception {
        Process launcher = start(stuck);
        try {
            Path pids = copy.resolve("calls.pids");
            int started = stuck.equals("record") ? 1 : 2;
            await().until(() -> Files.exists(pids) && Files.readAllLines(pids).size() == started);

            assertThat(new ProcessBuilder("kill", "-" + signal, Long.toString(launcher.pid()))
                            .start()
                            .waitFor())
                    .isZero();

            assertThat(launcher.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(launcher.exitValue()).isEqualTo(status);
            for (String pid : Files.readAllLines(pids)) {
                assertThat(ProcessHandle.of(Long.parseLong(pid))).isEmpty();
            }
            assertThat(files(cache.getParent())).containsExactly("lib");
        } finally {
            launcher.descendants().forEach(ProcessHandle::destroyForcibly);
            launcher.destroyForcibly();
        }
    }

    private static List<String> files(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void aDamagedCacheIsMadeAnew() throws Exception {
        launch();
        String whole = Files.readString(cache);
        FileTime written = Files.getLastModifiedTime(cache);
        for (String damaged : List.of("lEarned\n", "learn", whole + "\n")) {
            Files.writeString(cache, damaged);
            Files.setLastModifiedTime(cache, written);

            assertThat(launch()).hasSize(3).first().asString().contains(TRAINING);
            assertThat(cache).hasContent(whole);
        }
        Files.delete(cache.resolveSibling("millrace.aot.sum"));
        assertThat(launch()).hasSize(3);
        assertThat(launch()).hasSize(1);
    }

    @Test
    void whatAKilledTrainingLeftIsRemoved() throws Exception {
        Process ended = new ProcessBuilder("true").start();
        ended.waitFor();
        Files.createFile(cache.resolveSibling("millrace.aot." + ended.pid()));
        Files.createFile(cache.resolveSibling("millrace.aot." + ended.pid() + ".config"));
        String alive = "millrace.aot." + ProcessHandle.current().pid() + ".log";
        Files.createFile(cache.resolveSibling(alive));

        launch();

        assertThat(files(cache.getParent()))
                .containsExactlyInAnyOrder("lib", "millrace.aot", "millrace.aot.sum", alive);
    }

    @Test
    void jarsThatAreNewerThanTheCacheHaveItWrittenAgain() throws Exception {
        Files.writeString(cache, "of older jars");
        age(cache, 1);
        age(jar, 2);

        assertThat(launch()).hasSize(3).first().asString().contains(TRAINING);
        assertThat(cache).hasContent("learned");
    }

    @Test
    void anEmptyCacheSaysThatThereIsNoUseInTrying() throws Exception {
        script(copy.resolve("bin/java"), """
            #!/bin/sh
            echo "java $*" >>"$CALLS"
            """); // one that knows nothing of caches
        assertThat(launch()).hasSize(2).first().asString().contains(TRAINING);
        assertThat(cache).isEmptyFile();

        assertThat(launch()).singleElement().asString().doesNotContain("AOT").endsWith("serve echo");
    }

    @Test
    void aSourceThatIsNewerThanTheJarsHasThemBuiltAndLearnedAgain() throws Exception {
        Files.writeString(cache, "of older jars");
        age(cache, 1);
        age(copy.resolve("cli/src/main"), 2);

        List<String> called = launch();

        assertThat(called).hasSize(4);
        assertThat(called.getFirst()).startsWith("mvn ").contains("-pl cli -am package");
        assertThat(called.get(1)).contains(TRAINING);
        assertThat(launch()).containsExactly(called.getLast());
    }

    @Test
    void anExampleThatIsGivenTheUrlOfABackplaneHasItsEngine() throws Exception {
        Path source = copy.resolve("examples/src/main/java/io/millrace/examples/Hello.java");
        Files.createDirectories(source.getParent());
        Files.writeString(source, "public static void main(String[] args) {}");
        script(copy.resolve("bin/mvn"), """
            #!/bin/sh
            echo "mvn $*" >>"$CALLS"
            """);

        assertThat(exitOf(start("nowhere", "example", "Hello", "7001", "redis://127.0.0.1:6400")))
                .isZero();
        assertThat(exitOf(start("nowhere", "example", "Hello", "7001", "nats://127.0.0.1:4222")))
                .isZero();

        List<String> called = Files.readAllLines(calls);
        assertThat(called.get(0)).startsWith("mvn ").contains("-pl examples,backplane/redis -am package");
        assertThat(called.get(1))
                .contains("/examples/target/lib/*:")
                .contains("/backplane/redis/target/lib/* ")
                .endsWith("Hello 7001 redis://127.0.0.1:6400");
        assertThat(called.get(2)).contains("-pl examples,backplane/nats -am package");
        assertThat(called.get(3)).contains("/backplane/nats/target/lib/* ");
    }

    @Test
    void anExampleIsBuiltOnceAndRunByItsName() throws Exception {
        Path source = copy.resolve("examples/src/main/java/io/millrace/examples/deeper/Hello.java");
        Files.createDirectories(source.getParent());
        Files.writeString(source, "public static void main(String[] args) {}");
        Files.createFile(copy.resolve("examples/pom.xml"));
        script(copy.resolve("bin/mvn"), """
            #!/bin/sh
            echo "mvn $*" >>"$CALLS"
            mkdir -p examples/target/lib
            touch examples/target/lib/millrace-examples-1.jar
            """);

        assertThat(exitOf(start("nowhere", "example", "Hello", "a word"))).isZero();
        assertThat(exitOf(start("nowhere", "example", "Hello"))).isZero();

        List<String> called = Files.readAllLines(calls);
        assertThat(called).hasSize(3);
        assertThat(called.getFirst()).startsWith("mvn ").contains("-pl examples -am package");
        assertThat(called.get(1))
                .contains("--enable-native-access=ALL-UNNAMED", "--add-opens java.base/java.lang=ALL-UNNAMED")
                .endsWith("/examples/target/lib/* io.millrace.examples.deeper.Hello a word");
        assertThat(called.getLast()).endsWith("io.millrace.examples.deeper.Hello");

        assertThat(exitOf(start("nowhere", "example", "Goodbye"))).isEqualTo(2);
        assertThat(copy.resolve("output")).content().contains("there is no example Goodbye; there are:\n  Hello\n");
    }

    @Test
    void anExampleOfABridgeIsBuiltWithItsLibrariesOnly() throws Exception {
        Path source = copy.resolve("examples/bridges/src/main/java/io/millrace/examples/bridges/Hello.java");
        Files.createDirectories(source.getParent());
        Files.createDirectories(copy.resolve("bridges/reactor-netty/src/main"));
        Files.createFile(copy.resolve("bridges/reactor-netty/pom.xml"));
        Files.writeString(source, "public static void main(String[] args) {}");
        Files.createFile(copy.resolve("examples/bridges/pom.xml"));
        script(copy.resolve("bin/mvn"), """
            #!/bin/sh
            echo "mvn $*" >>"$CALLS"
            mkdir -p examples/bridges/target/lib
            touch examples/bridges/target/lib/millrace-reactor-netty-1.jar examples/bridges/target/lib/millrace-examples-bridges-1.jar
            """);

        assertThat(exitOf(start("nowhere", "example", "Hello", "a word"))).isZero();
        assertThat(exitOf(start("nowhere", "example", "Hello"))).isZero();

        List<String> called = Files.readAllLines(calls);
        assertThat(called).as("built once").hasSize(3);
        assertThat(called.getFirst()).startsWith("mvn ").contains("-pl examples/bridges -am package");
        assertThat(called.get(1)).endsWith("/examples/bridges/target/lib/* io.millrace.examples.bridges.Hello a word");
    }
}
