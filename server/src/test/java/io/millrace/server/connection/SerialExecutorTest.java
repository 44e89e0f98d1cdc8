package io.millrace.server.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
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

    @Test
    @DisplayName("mill-13: one that never runs out of tasks lets others have their turn on the same thread")
    void sharesItsThread() {
        ArrayDeque<Runnable> thread = new ArrayDeque<>();
        SerialExecutor busy = new SerialExecutor(thread::add);
        SerialExecutor other = new SerialExecutor(thread::add);
        AtomicInteger rounds = new AtomicInteger();
        Runnable again = new Runnable() {
            @Override
            public void run() {
                if (ran.isEmpty() && rounds.incrementAndGet() < 100_000) {
                    busy.execute(this);
                }
            }
        };
        busy.execute(again);
        other.execute(() -> ran.add("other"));
        for (Runnable next = thread.poll(); next != null; next = thread.poll()) {
            next.run();
        }
        assertThat(ran).containsExactly("other");
        assertThat(rounds).hasValueLessThan(1_000);
    }
}
