package io.millrace.engine.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.BlockedLoop;
import io.millrace.engine.EventLoop;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("mr-1: the watchdog")
@Timeout(60)
class FirstTurnTest {
    @Test
    @DisplayName("reports a first turn that blocks, though it had left because nobody ran the loop")
    void firstTurn() throws Exception {
        AtomicReference<BlockedLoop> reported = new AtomicReference<>();
        CountDownLatch told = new CountDownLatch(1);
        try (EventLoop loop = EventLoop.builder()
                .name("first-turn")
                .watchdog(Duration.ofMillis(20), blocked -> {
                    reported.set(blocked);
                    told.countDown();
                })
                .open()) {
            Thread watchdog = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().equals("first-turn-watchdog"))
                    .findFirst()
                    .orElseThrow();
            while (watchdog.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            AtomicReference<Boolean> heard = new AtomicReference<>(false);
            loop.execute(() -> {
                try {
                    heard.set(told.await(10, TimeUnit.SECONDS));
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            loop.runOnce(Duration.ZERO);
            assertThat(heard.get()).isTrue();
            assertThat(reported.get().toString()).contains("first-turn-0");
        }
    }
}
