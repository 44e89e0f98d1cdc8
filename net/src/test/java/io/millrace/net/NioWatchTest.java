package io.millrace.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.net.FileEvent.Kind;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Trigger;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A watch by the JDK's watch service")
class NioWatchTest {
    @Test
    @DisplayName("mio-7, mr-6: that changes were lost is reported like a change, also to whoever takes one at a time")
    void anOverflowIsReported(@TempDir Path directory) throws Exception {
        int room = 2;
        NioWatch transport = new NioWatch(FileSystems.getDefault().newWatchService(), room);
        try (FileWatch watch = new FileWatch(transport);
                Poll poll = Poll.open()) {
            watch.watch(directory, Kind.CREATED);
            transport.start();
            poll.register(watch, 1, Interest.READABLE, Trigger.LEVEL);
            for (int i = 0; i < 3 * room; i++) {
                Files.createFile(directory.resolve("file" + i));
            }
            long start = System.nanoTime();
            while (!transport.isOverflowed()) {
                assertThat(System.nanoTime() - start).isLessThan(Rig.DEADLINE.toNanos());
                Thread.onSpinWait();
            }

            List<Kind> seen = new ArrayList<>();
            Events events = Events.withCapacity(4);
            while (!seen.contains(Kind.OVERFLOW)) {
                assertThat(poll.poll(events, Rig.DEADLINE)).as("after " + seen).isPositive();
                FileEvent event = watch.poll();
                if (event != null) {
                    seen.add(event.kind());
                }
            }
            assertThat(seen).hasSizeGreaterThan(1);
        }
    }
}
