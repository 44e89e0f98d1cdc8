package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.pool.ObjectPoolMetrics;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Metrics")
class MetricsTextTest {
    @Test
    @DisplayName("are printed in one line, with their values")
    void oneLine() {
        try (Reactors reactors = Reactors.builder().reactors(2).open()) {
            assertThat(reactors.metrics().toString())
                    .matches(
                            "2 reactors: \\d+ turns, \\d+ waits, \\d+ wake-ups, \\d+ events, \\d+ delivered, \\d+ alarms due, "
                                    + "0 failures; now \\d+ sources, 0 alarms, 0 tasks waiting; loop lag 0 values, .*; turn \\d+ values, .*")
                    .doesNotContain("@");
        }
        assertThat(new ObjectPoolMetrics(3, 5, 1, 0))
                .hasToString("ObjectPoolMetrics[created=3, acquired=5, idle=1, dropped=0]");
    }
}
