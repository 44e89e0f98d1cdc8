package io.millrace.engine.watchdog;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.BlockedLoop;
import io.millrace.engine.watchdog.LoopDiagnosis.Verdict;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("mr-1: what the watchdog makes of what it sees")
class LoopDiagnosisTest {
    private static final long MS = 1_000_000;
    private static final long LIMIT = 100 * MS;

    private final LoopDiagnosis suspect = new LoopDiagnosis(LIMIT);
    private long now;
    private long ran;
    private long waited;

    /** A look after some time, at this turn and item. */
    private Verdict look(long after, long turn, long item, @Nullable ThreadTimes times, long paused) {
        now += after * MS;
        return suspect.works(turn, item, now, now, times, paused * MS);
    }

    private ThreadTimes times(long ranMore, long waitedMore, boolean runnable) {
        ran += ranMore * MS;
        waited += waitedMore * MS;
        return new ThreadTimes(ran, waited, runnable);
    }

    @Test
    @DisplayName("an item that sleeps above the limit is blocked, and told once")
    void sleeps() {
        assertThat(look(0, 1, 1, times(0, 0, false), 0)).isEqualTo(Verdict.FINE);
        assertThat(look(50, 1, 1, times(0, 0, false), 0)).isEqualTo(Verdict.FINE);
        assertThat(look(50, 1, 1, times(0, 0, false), 0)).isEqualTo(Verdict.BLOCKED);
        assertThat(suspect.itemNanos()).isEqualTo(LIMIT);
        assertThat(look(500, 1, 1, times(0, 0, false), 0)).isEqualTo(Verdict.FINE);
        assertThat(look(50, 1, 2, times(0, 0, false), 0)).isEqualTo(Verdict.FINE);
        assertThat(look(100, 1, 2, times(0, 0, false), 0)).isEqualTo(Verdict.BLOCKED);
    }

    @Test
    @DisplayName("an item that computes above the limit is blocked")
    void computes() {
        look(0, 1, 1, times(0, 0, true), 0);
        look(60, 1, 1, times(60, 0, true), 0);
        assertThat(look(60, 1, 1, times(60, 0, true), 0)).isEqualTo(Verdict.BLOCKED);
    }

    @Test
    @DisplayName("a thread that is ready and not let run is starved, whether the kernel has counted that or not")
    void starves() {
        look(0, 1, 1, times(0, 0, true), 0);
        assertThat(look(60, 1, 1, times(1, 0, true), 0)).isEqualTo(Verdict.FINE); // waits still
        assertThat(look(60, 1, 1, times(1, 118, true), 0)).isEqualTo(Verdict.STARVED);
        assertThat(look(500, 1, 1, times(5, 495, true), 0)).isEqualTo(Verdict.FINE);
        // It has run, waited and sleeps now: the sleep is the item's, the wait is not.
        assertThat(look(100, 1, 1, times(10, 80, false), 0)).isEqualTo(Verdict.FINE);
        assertThat(look(100, 1, 1, times(0, 0, false), 0)).isEqualTo(Verdict.BLOCKED);
    }

    @Test
    @DisplayName("a pause of the whole process is nobody's")
    void pauses() {
        look(0, 1, 1, times(0, 0, false), 0);
        assertThat(look(6_000, 1, 1, times(0, 0, false), 5_950)).isEqualTo(Verdict.FINE);
        assertThat(look(50, 1, 1, times(0, 0, false), 0)).isEqualTo(Verdict.BLOCKED);
    }

    @Test
    @DisplayName("a turn of many items is busy, and told once; turns and sleeps in between count from the beginning")
    void busy() {
        look(0, 1, 1, null, 0);
        assertThat(look(50, 1, 100, null, 0)).isEqualTo(Verdict.FINE);
        assertThat(look(50, 1, 200, null, 0)).isEqualTo(Verdict.BUSY);
        assertThat(look(50, 1, 300, null, 0)).isEqualTo(Verdict.FINE);
        assertThat(look(50, 3, 400, null, 0)).isEqualTo(Verdict.FINE);
        assertThat(look(50, 5, 400, null, 0)).isEqualTo(Verdict.FINE);
        suspect.markAsleep();
        assertThat(look(500, 5, 400, null, 0)).isEqualTo(Verdict.FINE);
    }

    @Test
    @DisplayName("where the kernel tells nothing, time is time")
    void elsewhere() {
        look(0, 1, 1, null, 0);
        assertThat(look(100, 1, 1, null, 0)).isEqualTo(Verdict.BLOCKED);
    }

    // ---- What is logged ----

    private final List<String> lines = new ArrayList<>();
    private final WatchdogLog log = new WatchdogLog("loops", (level, message) -> lines.add(level + " " + message));

    private static BlockedLoop turn(String handler, String method) {
        return new BlockedLoop(
                "loop-0",
                handler,
                Duration.ofMillis(120),
                List.of(
                        new StackTraceElement("app", "java.base", "25", "java.lang.Thread", "sleep", "Thread.java", 1),
                        new StackTraceElement("com.example.Handler", method, "Handler.java", 7),
                        new StackTraceElement("io.millrace.engine.reactor.Reactor", "runItem", null, 9)));
    }

    @Test
    @DisplayName("a place that blocks is told at once with its stack, and then counted, a line a minute at most")
    void places() {
        log.reportBlocked(turn("connection 1", "onData"), 0);
        for (int i = 1; i <= 35; i++) {
            log.reportBlocked(turn("connection " + i, "onData"), i * 200 * MS);
        }
        assertThat(lines).hasSize(1);
        assertThat(lines.getFirst())
                .startsWith(Level.WARNING + " loop-0 has been held for 120 ms by connection 1")
                .contains("com.example.Handler.onData");
        log.reportBlocked(turn("connection 9", "onConnect"), 9_000 * MS);
        assertThat(lines).hasSize(2);
        log.reportBlocked(turn("connection 36", "onData"), 60_000 * MS);
        assertThat(lines).hasSize(3);
        assertThat(lines.getLast())
                .contains("blocked again at com.example.Handler.onData;")
                .contains("36 ×")
                .contains("connection 36");
        log.reportBlocked(turn("connection 37", "onData"), 60_001 * MS);
        assertThat(lines).hasSize(3);
    }

    /** A handler that computes, caught wherever it happens to be. */
    private static BlockedLoop computing(String connection, String leaf, int line) {
        return new BlockedLoop(
                "loop-0",
                connection,
                Duration.ofMillis(120),
                List.of(
                        new StackTraceElement("app", "java.base", "25", "java.lang.Math", "sin", "Math.java", line),
                        new StackTraceElement("com.example.Parser", leaf, "Parser.java", line),
                        new StackTraceElement("com.example.Handler", "onData", "Handler.java", line),
                        new StackTraceElement("io.millrace.server.connection.StreamConnection", "received", null, line),
                        new StackTraceElement("io.millrace.engine.transport.SocketTransport", "run", null, 9),
                        new StackTraceElement("io.millrace.engine.reactor.Reactor", "runItem", null, 9),
                        new StackTraceElement("io.millrace.engine.reactor.Reactor", "run", null, 9),
                        new StackTraceElement("com.example.Main", "main", "Main.java", 9)));
    }

    @Test
    @DisplayName("mr-1: a handler that computes is one place, wherever in it each look finds it")
    void computingIsOnePlace() {
        for (int i = 0; i < 35; i++) {
            log.reportBlocked(computing("connection " + i, "leaf" + i, 100 + i), i * 200 * MS);
        }
        assertThat(lines).hasSize(1);
        log.reportBlocked(computing("connection 36", "leaf", 7), 60_000 * MS);
        assertThat(lines).hasSize(2);
        assertThat(lines.getLast()).contains("blocked again at com.example.Handler.onData;");
    }

    @Test
    @DisplayName("of very many places that block the latest are remembered, and an old one is told anew")
    void manyPlaces() {
        for (int i = 0; i < 1_000; i++) {
            log.reportBlocked(turn("connection 1", "on" + i), i * MS);
        }
        log.reportBlocked(turn("connection 1", "on999"), 1_000 * MS);
        assertThat(lines).hasSize(1_000);
        log.reportBlocked(turn("connection 1", "on0"), 1_001 * MS);
        assertThat(lines).hasSize(1_001);
    }

    @Test
    @DisplayName("what is nobody's fault is one line a minute, with counts and the longest item")
    void counts() {
        assertThat(log.isSummaryDue(0)).isFalse();
        log.countBusy(150 * MS);
        log.countBusy(180 * MS);
        log.countStarved(200 * MS);
        log.countPaused(6_000 * MS);
        assertThat(log.isSummaryDue(10 * MS)).isFalse();
        assertThat(log.isSummaryDue(1_010 * MS)).isTrue();
        log.keepIfLongest(new TimedItem("the long one", 3 * MS));
        log.keepIfLongest(new TimedItem("another", 2 * MS));
        log.keepIfLongest(null);
        log.summarise(1_010 * MS);
        assertThat(lines).hasSize(1);
        assertThat(lines.getFirst())
                .startsWith(Level.INFO + " loops: no handler is to blame")
                .contains("2 × (at most 180 ms), of which the longest timed was 3000 µs in the long one")
                .contains("1 × (at most 200 ms)")
                .contains("1 × (at most 6000 ms)");
        log.countStarved(100 * MS);
        assertThat(log.isSummaryDue(2_000 * MS)).isFalse();
        assertThat(log.isSummaryDue(61_010 * MS)).isTrue();
    }
}
