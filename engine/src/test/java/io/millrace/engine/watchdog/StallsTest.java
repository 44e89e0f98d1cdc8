package io.millrace.engine.watchdog;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.BlockedLoop;
import io.millrace.engine.StallReport;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("obs-4: what has held up a loop")
class StallsTest {
    private static final long MS = 1_000_000;

    private final Stalls stalls = new Stalls();

    private void block(String place, long from, long millis) {
        stalls.begin(place, new BlockedLoop("loop", place, Duration.ofMillis(100), List.of()), from * MS);
        stalls.goOn(millis * MS, (from + millis) * MS);
        stalls.end();
    }

    @Test
    @DisplayName(
            "obs-4: of 70 places the last 64 are remembered, the latest first; the count of stalls never decreases")
    void remembersTheLatest() {
        long before = 0;
        for (int i = 0; i < 70; i++) {
            block("place " + i, i * 1_000L, 200);
            long now = stalls.report(i * 1_000L * MS).blockedCount();
            assertThat(now).isEqualTo(before + 1);
            before = now;
        }
        List<StallReport.Blocked> blocked = stalls.report(70_000 * MS).blocked();
        assertThat(blocked).hasSize(64);
        assertThat(blocked.getFirst().place()).isEqualTo("place 69");
        assertThat(blocked.getLast().place()).isEqualTo("place 6");
        assertThat(blocked.getFirst().sinceLast()).isEqualTo(Duration.ofMillis(800));
    }

    @Test
    @DisplayName("obs-4: a place counts its stalls, the longest and their sum; only the present one is ongoing")
    void tallies() {
        block("a", 0, 300);
        block("a", 1_000, 200);
        stalls.begin("b", new BlockedLoop("loop", "b", Duration.ofMillis(100), List.of()), 2_000 * MS);
        StallReport report = stalls.report(2_000 * MS);
        assertThat(report.blockedCount()).isEqualTo(3);
        assertThat(report.blocked()).extracting(StallReport.Blocked::ongoing).containsExactly(true, false);
        assertThat(report.blocked().getLast().tally())
                .isEqualTo(new StallReport.Tally(2, Duration.ofMillis(300), Duration.ofMillis(500)));
        assertThat(report.busy()).isEqualTo(StallReport.Tally.NONE);
        stalls.countBusy(5);
        stalls.countBusy(3);
        assertThat(stalls.report(0).busy())
                .isEqualTo(new StallReport.Tally(2, Duration.ofNanos(5), Duration.ofNanos(8)));
    }
}
