package io.millrace.soak;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.testkit.Await;
import io.millrace.testkit.OpenFiles;
import io.millrace.testkit.Reports;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/**
 * Random constellations that end in random ways, all at once: 300 in every build, 10,000 under {@code -Psoak}, and as many as you like with {@code -Dmillrace.seeds=}. The seed of the one that failed is in
 * the message, and {@code -Dmillrace.seed=} runs that one again and again, so often, because what the threads do is not part of a seed.
 */
@DisplayName("Endings")
@EnabledOnOs(OS.LINUX)
class EndingsTest {
    private static final int SEEDS =
            Integer.getInteger("millrace.seeds", Boolean.getBoolean("millrace.soak") ? 10_000 : 300);
    private static final Long ONE = Long.getLong("millrace.seed");
    private static final int AT_ONCE = 8;

    @Test
    @Timeout(1200)
    @DisplayName(
            "end-2, end-3: whatever ends in whatever order and way, nothing hangs, everybody is told once, and nothing is left")
    void anyOrder() throws Exception {
        try (Reports reports = new Reports()) { // callbacks throw, and that is reported: not on the terminal
            end(LongStream.range(1_000_000, 1_000_000 + 2 * AT_ONCE));
            awaitNoThreads("the first ones");
            Map<String, Integer> before = OpenFiles.count();
            for (long seed = 0; seed < SEEDS; seed += AT_ONCE) {
                long first = seed;
                String seeds = "seeds " + first + " to " + (first + AT_ONCE - 1);
                end(LongStream.range(first, first + AT_ONCE).map(each -> ONE == null ? each : ONE));
                awaitNoThreads(seeds);
                Await.until(
                        seeds + ": descriptors as before, " + before + ", not " + OpenFiles.count(),
                        () -> OpenFiles.areNoMoreThan(before));
                assertThat(reports.lines()).as(seeds).noneMatch(line -> line.contains("could not end in order"));
                reports.lines().clear();
            }
        }
    }

    /** Several at once: most of their time they wait. */
    private static void end(LongStream seeds) throws Exception {
        List<FutureTask<Boolean>> running = seeds.mapToObj(seed -> new FutureTask<>(() -> {
                    end(seed);
                    return true;
                }))
                .toList();
        running.forEach(task -> Thread.ofPlatform().daemon().start(task));
        for (FutureTask<Boolean> task : running) {
            task.get(2, TimeUnit.MINUTES); // each is bounded by itself, and says which it is
        }
    }

    private static void end(long seed) throws Exception {
        try (Constellation constellation = new Constellation(seed)) {
            constellation.end();
            constellation.check();
        } catch (AssertionError | Exception e) {
            throw new AssertionError("seed " + seed + " (run it with -Dmillrace.seed=" + seed + "): " + e, e);
        }
    }

    private static void awaitNoThreads(String seeds) {
        Await.until(seeds + ": threads are left: " + threads(), () -> threads().isEmpty());
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("ends") || name.startsWith("millrace-"))
                .toList();
    }
}
