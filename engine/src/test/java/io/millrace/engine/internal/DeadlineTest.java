package io.millrace.engine.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.poll.Clock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A deadline")
@Timeout(60)
class DeadlineTest {
    @Test
    @DisplayName("end-7: an end that is waited for again and again does not remember everyone who has given up")
    void forgetsWhoGaveUp() {
        CompletableFuture<Void> end = new CompletableFuture<>();
        for (int i = 0; i < 1_000; i++) {
            assertThat(Deadline.after(Clock.system(), Duration.ofNanos(1)).await(end))
                    .isFalse();
        }
        assertThat(end.getNumberOfDependents()).isZero();
    }

    @Test
    @DisplayName("end-3: an end that comes in time is noticed at once, whether it succeeds or fails")
    void noticesTheEnd() {
        for (boolean fails : new boolean[] {false, true}) {
            CompletableFuture<Void> end = new CompletableFuture<>();
            Thread.ofPlatform().start(() -> {
                if (fails) {
                    end.completeExceptionally(new IllegalStateException("failed"));
                } else {
                    end.complete(null);
                }
            });
            assertThat(Deadline.after(Clock.system(), Duration.ofDays(1)).await(end))
                    .isTrue();
        }
    }
}
