package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Callbacks in a row")
class SerialExecutorTest {
    private final List<String> ran = new ArrayList<>();

    @Test
    @DisplayName("end-1: one that throws does not keep the next ones waiting")
    void oneThatThrows() {
        List<Runnable> handedOver = new ArrayList<>();
        SerialExecutor serial = new SerialExecutor(handedOver::add);
        serial.execute(() -> {
            throw new AssertionError("meant so");
        });
        serial.execute(() -> ran.add("second"));
        assertThat(handedOver).hasSize(1);
        handedOver.removeFirst().run();
        assertThat(ran).containsExactly("second");
        serial.execute(() -> ran.add("third"));
        assertThat(handedOver).hasSize(1);
        handedOver.removeFirst().run();
        assertThat(ran).containsExactly("second", "third");
    }

    @Test
    @DisplayName("mill-7: what its threads do not take any more is told here, in order")
    void refused() {
        Executor ended = task -> {
            throw new RejectedExecutionException("ended");
        };
        SerialExecutor serial = new SerialExecutor(ended);
        serial.execute(() -> {
            serial.execute(() -> ran.add("inner"));
            ran.add("first");
        });
        serial.execute(() -> ran.add("second"));
        assertThat(ran).containsExactly("first", "inner", "second");
    }
}
