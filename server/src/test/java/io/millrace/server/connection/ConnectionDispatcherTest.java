package io.millrace.server.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("The threads of callbacks")
@Timeout(30)
class ConnectionDispatcherTest {
    @Test
    @DisplayName("mill-13: all run when the pool is there")
    void start() {
        List<Thread> made = new ArrayList<>();
        List<ExecutorService> pool = ConnectionDispatcher.pool("test", 3, task -> {
            Thread thread = new Thread(task);
            made.add(thread);
            return thread;
        });
        try {
            assertThat(made).hasSize(3).allMatch(Thread::isAlive);
        } finally {
            pool.forEach(ExecutorService::shutdown);
        }
    }

    @Test
    @DisplayName("mill-13: if the system has not enough, it is one clear error, and those that were started end")
    void tooFew() throws Exception {
        List<Thread> made = new ArrayList<>();
        assertThatThrownBy(() -> ConnectionDispatcher.pool("test", 3, task -> {
                    if (made.size() == 2) {
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                    Thread thread = new Thread(task);
                    made.add(thread);
                    return thread;
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("cannot open test: only 2 of 3 threads could be started")
                .hasCauseInstanceOf(OutOfMemoryError.class);
        assertThat(made).hasSize(2);
        for (Thread thread : made) {
            thread.join();
        }
    }
}
