package io.millrace.net.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.net.family.FileChange;
import io.millrace.net.family.FileChange.Kind;
import io.millrace.net.family.WatchedPath;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Trigger;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A watch by the JDK's watch service")
class NioWatchTest {
    private static final Duration DEADLINE = Duration.ofSeconds(20);

    @Test
    @DisplayName("mio-7, mr-6: that changes were lost is reported like a change, also to whoever takes one at a time")
    void anOverflowIsReported(@TempDir Path directory) throws Exception {
        int room = 2;
        NioWatch watch = new NioWatch(FileSystems.getDefault().newWatchService(), room);
        try (Poll poll = Poll.open()) {
            watch.watch(WatchedPath.of(directory, Set.of(Kind.CREATED)));
            watch.start();
            poll.register(watch::handle, 1, Interest.READABLE, Trigger.LEVEL);
            for (int i = 0; i < 3 * room; i++) {
                Files.createFile(directory.resolve("file" + i));
            }
            long start = System.nanoTime();
            while (!watch.isOverflowed()) {
                assertThat(System.nanoTime() - start).isLessThan(DEADLINE.toNanos());
                Thread.onSpinWait();
            }

            List<Kind> seen = new ArrayList<>();
            Events events = Events.withCapacity(4);
            while (!seen.contains(Kind.OVERFLOW)) {
                assertThat(poll.poll(events, DEADLINE)).as("after " + seen).isPositive();
                FileChange change = watch.poll();
                if (change != null) {
                    seen.add(change.kind());
                }
            }
            assertThat(seen).hasSizeGreaterThan(1);
        } finally {
            watch.close();
        }
    }
}
