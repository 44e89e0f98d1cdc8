package io.millrace.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("What became faster or slower between two runs")
class ChangesTest {
    @TempDir
    Path folder;

    private int files;

    private Path run(Map<String, Object> more, double[] base, double[] cpu, double[] rate) throws IOException {
        List<Object> baseRounds = new java.util.ArrayList<>();
        List<Object> ourRounds = new java.util.ArrayList<>();
        for (int i = 0; i < base.length; i++) {
            baseRounds.add(Map.of("cpuMicros", base[i], "messagesPerSecond", 100.0));
            ourRounds.add(Map.of("cpuMicros", cpu[i], "messagesPerSecond", rate[i]));
        }
        Map<String, Object> shown = Map.of("cpuMicros", List.of(1, 1, 1), "messagesPerSecond", List.of(1, 1, 1));
        Map<String, Object> contest = new LinkedHashMap<>(Map.of("id", "echo", "baseline", "C"));
        contest.putAll(more);
        contest.put(
                "contestants",
                List.of(
                        Map.of("name", "C", "ratiosMedianLeastMost", shown, "rounds", baseRounds),
                        Map.of("name", "ours", "ratiosMedianLeastMost", shown, "rounds", ourRounds)));
        Path file = folder.resolve("run" + files++ + ".json");
        Files.writeString(file, Json.write(Map.of("contests", List.of(contest))));
        return file;
    }

    private static double[] all(double value) {
        return new double[] {value, value, value, value, value, value};
    }

    @Test
    @DisplayName("is said of ratios to the base line, so a machine that is twice as slow changes nothing")
    void ratios() throws Exception {
        Path before = run(Map.of(), all(10), new double[] {11, 12, 10, 11, 12, 11}, all(100));
        Path after = run(Map.of(), all(20), new double[] {22, 24, 20, 22, 24, 22}, all(100));
        Changes changes = Changes.between(before, after);
        assertThat(changes.areWorse()).isFalse();
        assertThat(changes.text())
                .isEqualTo("2 figures were compared: 0 better, 0 worse, 2 not told apart from chance\n");
    }

    @Test
    @DisplayName("more CPU is worse, more messages per second are better")
    void directions() throws Exception {
        Path before = run(Map.of(), all(10), new double[] {10, 11, 10, 10, 11, 10}, all(100));
        Path after = run(Map.of(), all(10), new double[] {12, 13, 12, 12, 12, 13}, all(120));
        Changes changes = Changes.between(before, after);
        assertThat(changes.areWorse()).isTrue();
        assertThat(changes.text().lines())
                .anyMatch(line ->
                        line.matches("echo: ours +cpuMicros +1\\.00 +1\\.20 +1\\.20 \\[1\\.\\d\\d–1\\.\\d\\d] +worse"))
                .anyMatch(line ->
                        line.matches("echo: ours +messagesPerSecond +1\\.00 +1\\.20 +1\\.20 \\[1\\.20–1\\.20] +better"))
                .contains("2 figures were compared: 1 better, 1 worse, 0 not told apart from chance");
    }

    @Test
    @DisplayName("a difference that chance explains is none")
    void noise() throws Exception {
        Path before = run(Map.of(), all(10), new double[] {8, 12, 9, 11, 10, 13}, all(100));
        Path after = run(Map.of(), all(10), new double[] {9, 13, 8, 12, 11, 12}, all(100));
        assertThat(Changes.between(before, after).text()).contains("0 better, 0 worse, 2 not told apart");
    }

    @Test
    @DisplayName("few rounds, other machines and other base lines are named")
    void remarks() throws Exception {
        Path three = run(Map.of(), new double[] {1, 1, 1}, new double[] {1, 1, 1}, new double[] {1, 1, 1});
        assertThat(Changes.between(three, three).text())
                .contains("echo has fewer than 5 rounds in one of the runs, so its intervals say little");

        Path other = run(Map.of("baseline", "Netty"), all(1), all(1), all(1));
        assertThatThrownBy(() -> Changes.between(three, other))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no candidate was measured beside the same base line in both");

        Path here = folder.resolve("here.json");
        Path there = folder.resolve("there.json");
        String run = Files.readString(three);
        Files.writeString(here, run.replaceFirst("\\{", "{\"machine\": {\"cpu\": \"one\"},"));
        Files.writeString(there, run.replaceFirst("\\{", "{\"machine\": {\"cpu\": \"other\"},"));
        assertThat(Changes.between(here, there).text()).contains("not the same machine: cpu was one, and is other");
    }

    @Test
    @DisplayName("an interval is narrow where the rounds agree, wide where they do not, and the same each time")
    void intervals() {
        Interval narrow = Interval.ofMedians(all(10), all(12));
        assertThat(narrow).isEqualTo(new Interval(1.2, 1.2, 1.2));
        double[] wild = {5, 20, 9, 11, 30, 3};
        Interval wide = Interval.ofMedians(wild, wild);
        assertThat(wide.containsOne()).isTrue();
        assertThat(wide.low()).isLessThan(0.6);
        assertThat(wide.high()).isGreaterThan(1.6);
        assertThat(Interval.ofMedians(wild, wild)).isEqualTo(wide);
    }
}
