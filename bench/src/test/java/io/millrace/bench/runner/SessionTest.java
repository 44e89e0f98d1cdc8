package io.millrace.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A session")
class SessionTest {
    private final List<String> compared = new ArrayList<>();

    @TempDir
    Path folder;

    private Path json() {
        return folder.resolve("figures.json");
    }

    private boolean run(@Nullable String only) throws IOException, InterruptedException {
        Settings settings = new Settings(folder, true, 1, only, json());
        PrintStream print = new PrintStream(OutputStream.nullOutputStream());
        try (Session session = new Session("test", settings, print, print)) {
            return session.run(List.of(self -> {
                self.compare(comparison("echo-50"), 1);
                self.compare(comparison("echo-1000"), 1);
                self.compare(comparison("bulk"), 1);
            }));
        }
    }

    /** Its one candidate has its name. */
    private Comparison comparison(String id) {
        return new Comparison(
                id, id, id, List.of(Column.compared("cost", "ns", 1)), List.of(new Fixed(id, compared, 1)), List.of());
    }

    @Test
    @DisplayName("makes every comparison unless told otherwise, and writes their figures down")
    void all() throws Exception {
        assertThat(run(null)).isTrue();
        assertThat(compared).containsExactly("echo-50", "echo-1000", "bulk");
        assertThat(Files.readString(json())).contains("echo-50", "echo-1000", "bulk");
    }

    @Test
    @DisplayName("--only: makes those with this in their name, and no other")
    void only() throws Exception {
        assertThat(run("echo")).isTrue();
        assertThat(compared).containsExactly("echo-50", "echo-1000");
        assertThat(Files.readString(json())).contains("echo-1000").doesNotContain("bulk");
    }

    @Test
    @DisplayName("--only: says which there are if none has it, and writes nothing")
    void none() {
        assertThatThrownBy(() -> run("frob"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("no comparison has --only frob in its name; there are echo-50, echo-1000, bulk");
        assertThat(json()).doesNotExist();
    }
}
