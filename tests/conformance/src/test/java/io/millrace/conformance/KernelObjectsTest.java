package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.poll.Events;
import io.millrace.poll.Poll;
import io.millrace.testkit.OpenFiles;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Which kernel objects a poll opens on Linux, and that it gives them back. */
@EnabledOnOs(OS.LINUX)
@DisplayName("Kernel objects of a poll")
class KernelObjectsTest {
    @Test
    @DisplayName("tip-5, tip-14: a poll on epoll has one epoll instance and one eventfd, until it is closed")
    void epoll() {
        assertThat(opens("epoll")).isEqualTo(Map.of("[eventpoll]", 1, "[eventfd]", 1));
    }

    @Test
    @DisplayName("tip-5, tip-14: a poll on poll(2) has one eventfd, until it is closed")
    void poll() {
        assertThat(opens("poll")).isEqualTo(Map.of("[eventfd]", 1));
    }

    @Test
    @DisplayName("tip-14: a poll on NIO gives back whatever the JDK opens for it")
    void nio() {
        assertThat(opens("nio")).isNotEmpty();
    }

    /** What is open besides, while a poll is. */
    private static Map<String, Integer> opens(String backend) {
        use(backend); // whatever is opened once and kept
        Map<String, Integer> before = OpenFiles.count();
        Map<String, Integer> added = new TreeMap<>();
        try (Poll poll = Poll.builder().backend(backend).open()) {
            poll.poll(Events.withCapacity(1), Duration.ofMillis(1));
            poll.wake();
            OpenFiles.count().forEach((kind, count) -> {
                int more = count - before.getOrDefault(kind, 0);
                if (more != 0) {
                    added.put(kind, more);
                }
            });
        }
        assertThat(OpenFiles.count()).as("after close").isEqualTo(before);
        return added;
    }

    private static void use(String backend) {
        try (Poll poll = Poll.builder().backend(backend).open()) {
            poll.poll(Events.withCapacity(1), Duration.ZERO);
        }
    }
}
