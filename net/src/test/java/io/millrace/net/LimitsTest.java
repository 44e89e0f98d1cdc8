package io.millrace.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Out of file descriptors: each call says so, none blames the address, and what waited is still there afterwards. */
@EnabledOnOs(OS.LINUX)
class LimitsTest {
    @TempDir
    Path directory;

    @ParameterizedTest
    @EnumSource(Rig.Backend.class)
    @DisplayName("mill-11: EMFILE at accept and at every kind of open")
    void outOfDescriptorsIsSaidAndPasses(Rig.Backend backend) throws Exception {
        backend.rig().close();
        List<String> java = ChildJvm.command(
                LimitsChild.class, List.of(), backend.name().toLowerCase(Locale.ROOT), directory.toString());
        // The JVM raises the soft limit to the hard one; ulimit sets both.
        List<String> command = List.of("sh", "-c", "ulimit -n 200; exec '" + String.join("' '", java) + "'");
        String output;
        try (ChildJvm child = ChildJvm.start(new ProcessBuilder(command))) {
            output = child.rest();
            assertThat(child.exit()).as(output).isZero();
        }
        List<String> lines =
                output.lines().filter(line -> !line.startsWith("warm-up")).toList();

        assertThat(lines).contains("full true", "no-file-left-behind true", "recovered true");
        for (String call : List.of(
                "accept",
                "accept-unix",
                "connect",
                "connect-unix",
                "listen",
                "listen-unix",
                "udp",
                "pipe",
                "file",
                "adopt",
                "wait")) {
            assertThat(lines)
                    .as(output)
                    .anySatisfy(line -> assertThat(line)
                            .startsWith(call + " ")
                            .matches("(?i).*too many open files.*")
                            .doesNotContain("BindException", "ConnectException"));
        }
        // The limit of inotify instances has the same errno, so the message names both; the JDK has words of its own
        // for both.
        for (String call : List.of("watch", "child", "poll")) {
            assertThat(lines)
                    .as(output)
                    .anySatisfy(line -> assertThat(line)
                            .startsWith(call + " ")
                            .matches("(?is).*(too many|as many as|limit).*")
                            .doesNotContain(" gave "));
        }
        assertThat(output).contains("no-descriptor-lost true");
    }
}
