package io.millrace.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
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
    @Timeout(
            value = 4,
            unit = TimeUnit.MINUTES) // a build of four projects by a Maven of its own, beside other modules' tests
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
        for (String path : List.of("class path", "module path")) {
            assertThat(output)
                    .contains("netty, " + path + ": hello on its own thread")
                    .contains("netty, " + path + ": hello on a reactor");
        }
        // vt-2: conversations run on the loops, whose threads are named after the global manager.
        assertThat(output.lines())
                .anyMatch(line -> line.matches("class path: virtual threads: on the loops.*@millrace-\\d+.*"))
                .anyMatch(line -> line.matches("module path: virtual threads: on the loops.*@millrace-\\d+.*"));
        assertThat(runExecutableJar(projects, true)).contains("class path: virtual threads: on the loops");
        assertThat(runExecutableJar(projects, false))
                .contains("class path: virtual threads: on the JDK's scheduler")
                .contains("--add-opens java.base/java.lang=ALL-UNNAMED");
    }

    /** Runs a jar with the attributes of docs/using.md in its manifest, and no flags. */
    private String runExecutableJar(Path projects, boolean opens) throws Exception {
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.put(Attributes.Name.MAIN_CLASS, "app.OnTheClassPath");
        attributes.putValue("Enable-Native-Access", "ALL-UNNAMED");
        if (opens) {
            attributes.putValue("Add-Opens", "java.base/java.lang");
        }
        try (Stream<Path> files = Files.walk(folder.resolve("local"))) {
            attributes.put(
                    Attributes.Name.CLASS_PATH,
                    files.filter(file -> file.toString().endsWith(".jar"))
                            .filter(file -> file.toString().contains("millrace-")
                                    || file.toString().contains("jctools"))
                            .map(file -> file.toUri().toString())
                            .collect(Collectors.joining(" ")));
        }
        Path jar = folder.resolve("app" + opens + ".jar");
        Path classes = projects.resolve("class-path/target/classes");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest);
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                out.putNextEntry(new ZipEntry(classes.relativize(file).toString()));
                out.write(Files.readAllBytes(file));
            }
        }
        return run(
                folder,
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--illegal-native-access=deny",
                        "-jar",
                        jar.toString()));
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
            assertThat(process.waitFor(3, TimeUnit.MINUTES))
                    .as("%s has ended", command)
                    .isTrue();
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
    @ValueSource(strings = {"sys", "poll", "net", "task", "engine", "server", "testkit", "netty"})
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
