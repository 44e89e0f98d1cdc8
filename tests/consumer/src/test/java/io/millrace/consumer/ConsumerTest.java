package io.millrace.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Millrace as its users get it. The build installs each library into a folder (see the pom), and here a Maven of its own builds two projects from that folder: {@code src/projects}. It begins with
 * an empty local repository; what it needs from Maven Central it takes from the local repository of this build, which has it because this build uses the same plugins. So it needs no network,
 * and leaves nothing behind.
 */
@DisplayName("Projects that depend on Millrace")
class ConsumerTest {
    private static final Path PROJECTS = Path.of("src", "projects");

    /** What the projects' poms leave open. */
    private static final List<String> PASSED_ON = List.of(
            "millrace.version",
            "maven.compiler.release",
            "compiler.plugin.version",
            "exec.plugin.version",
            "resources.plugin.version",
            "toolchains.plugin.version");

    @TempDir
    private Path folder;

    private static String property(String name) {
        String value = System.getProperty(name);
        assertThat(value).as("system property %s, which the pom sets", name).isNotEmpty();
        return value;
    }

    @Test
    @DisplayName("build and run on the class path and on the module path, and need not name JSpecify")
    void projectsBuildAndRun() throws Exception {
        Path projects = folder.resolve("projects");
        copy(PROJECTS, projects);
        Files.createDirectories(projects.resolve(".mvn")); // the root of a build of its own
        Path settings = folder.resolve("settings.xml");
        Files.writeString(settings, settings());

        List<String> command = new ArrayList<>(List.of(
                Path.of(property("maven.home"), "bin", "mvn").toString(),
                "--batch-mode",
                "--no-transfer-progress",
                "--offline",
                "-Daether.offline.protocols=file", // folders can be read without a network
                "--settings",
                settings.toString(),
                "-Dmaven.repo.local=" + folder.resolve("local")));
        PASSED_ON.forEach(name -> command.add("-D" + name + "=" + property(name)));
        command.add("process-classes");
        String output = run(projects, command);

        assertThat(output).contains("class path: Item[value=hello] by ").contains("module path: Item[value=hello] by ");
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
    }

    private static String settings() {
        return """
            <settings>
              <mirrors>
                <mirror><id>built</id><mirrorOf>central</mirrorOf><url>%s</url></mirror>
              </mirrors>
              <profiles>
                <profile>
                  <id>installed</id>
                  <repositories>
                    <repository><id>installed</id><url>%s</url></repository>
                  </repositories>
                </profile>
              </profiles>
              <activeProfiles><activeProfile>installed</activeProfile></activeProfiles>
            </settings>
            """.formatted(
                        Path.of(property("maven.repository")).toUri(),
                        Path.of(property("installed")).toUri());
    }

    private String run(Path directory, List<String> command) throws Exception {
        Path output = folder.resolve("output");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment().put("MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
        builder.environment().remove("MAVEN_ARGS");
        Process process = builder.start();
        try {
            assertThat(process.waitFor(55, TimeUnit.SECONDS)).isTrue();
            // The local repository of a build has no checksums, and Maven says so for every file.
            List<String> lines = Files.readAllLines(output);
            lines.removeIf(line -> line.contains("no checksums available"));
            String text = String.join("\n", lines);
            assertThat(process.exitValue()).as(text).isZero();
            return text;
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sys", "poll", "net", "task", "engine", "server", "testkit"})
    @DisplayName("get sources and documentation with every library")
    void sourcesAndDocumentation(String library) throws Exception {
        String description = "io/millrace/" + library + "/package-info.java";
        assertThat(entries(library, "-sources.jar")).contains("module-info.java", description);
        assertThat(entries(library, "-javadoc.jar"))
                .contains("index.html", "io.millrace." + library + "/module-summary.html");
        assertThat(entries(library, ".jar")).contains("module-info.class");
        assertThat(installed(library, ".pom")).exists();
    }

    private static List<String> entries(String library, String end) throws IOException {
        try (ZipFile jar = new ZipFile(installed(library, end).toFile())) {
            return jar.stream().map(ZipEntry::getName).toList();
        }
    }

    private static Path installed(String library, String end) {
        String artifact = "millrace-" + library;
        String version = property("millrace.version");
        return Path.of(property("installed"), "io", "millrace", artifact, version, artifact + "-" + version + end);
    }
}
