package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@DisplayName("mr-3: an idle engine")
@EnabledOnOs(OS.LINUX)
@Timeout(60)
class IdleTest {
    /** How often each of the engine's threads went to sleep so far: a thread that stays asleep makes no system call. */
    private static Map<String, String> sleeps() throws IOException {
        try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
            Map<String, String> found = new TreeMap<>();
            tasks.forEach(task -> {
                try {
                    String name = Files.readString(task.resolve("comm")).strip();
                    if (name.startsWith("idle-")) {
                        found.put(
                                name + " " + task.getFileName(),
                                Files.readAllLines(task.resolve("status")).stream()
                                        .filter(line -> line.contains("ctxt_switches"))
                                        .toList()
                                        .toString());
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            return found;
        }
    }

    @Test
    @DisplayName("mr-3, mr-10: makes no system call on its threads, with a far alarm, the watchdog and spinning on")
    void silent() throws Exception {
        try (Reactors manager = Reactors.builder()
                .reactors(2)
                .name("idle")
                .spin(Duration.ofNanos(50_000))
                .watchdog(Duration.ofMillis(20), blocked -> {})
                .open()) {
            manager.schedule(Duration.ofHours(1), fired -> {});
            for (int i = 0; i < 100; i++) {
                CompletableFuture<Void> done = new CompletableFuture<>();
                manager.execute(() -> done.complete(null));
                done.get(10, TimeUnit.SECONDS);
            }
            // The watchdog looks twice before it parks.
            Map<String, String> before = sleeps();
            assertThat(before).hasSize(3);
            for (Map<String, String> now = settle(); !now.equals(before); now = settle()) {
                before = now;
            }
            long waits = manager.metrics().waits();
            assertThat(settle()).isEqualTo(before);
            assertThat(manager.metrics().waits()).isEqualTo(waits);
        }
    }

    /** What it looks like after a while in which nobody asked anything of the engine. */
    private static Map<String, String> settle() throws Exception {
        assertThat(new CountDownLatch(1).await(500, TimeUnit.MILLISECONDS)).isFalse();
        return sleeps();
    }
}
