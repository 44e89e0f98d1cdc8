package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("srv-13: how long to wait before connecting again")
class ReconnectTest {
    private static final Reconnect EXACT =
            Reconnect.backoff(Duration.ofMillis(100), Duration.ofSeconds(1)).jitter(0);

    private static List<Long> millis(Reconnect policy, int... attempts) {
        return IntStream.of(attempts)
                .mapToObj(each -> policy.waitNanos(each) / 1_000_000)
                .toList();
    }

    @Test
    @DisplayName("srv-13: waits double, up to the longest one")
    void doubles() {
        assertThat(millis(EXACT, 1, 2, 3, 4, 5, 6, 63, 64, 65, 1000, Integer.MAX_VALUE))
                .containsExactly(100L, 200L, 400L, 800L, 1000L, 1000L, 1000L, 1000L, 1000L, 1000L, 1000L);
        Reconnect longest = Reconnect.backoff(Duration.ofNanos(1), Duration.ofDays(300 * 365))
                .jitter(0);
        for (int attempts = 2; attempts < 200; attempts++) {
            assertThat(longest.waitNanos(attempts))
                    .isPositive()
                    .isGreaterThanOrEqualTo(longest.waitNanos(attempts - 1));
        }
    }

    @Test
    @DisplayName("srv-13: jitter takes a random share off, and never makes a wait longer")
    void jitter() {
        assertThat(millis(EXACT.jitter(0.2).random(() -> 0), 1, 5)).containsExactly(100L, 1000L);
        assertThat(millis(EXACT.jitter(0.2).random(() -> 0.5), 1, 5)).containsExactly(90L, 900L);
        assertThat(millis(EXACT.jitter(1).random(() -> 0.75), 1, 5)).containsExactly(25L, 250L);
        SplittableRandom random = new SplittableRandom(13);
        Reconnect seeded = EXACT.jitter(0.2).random(random::nextDouble);
        long least = Long.MAX_VALUE;
        long most = 0;
        for (int i = 0; i < 1000; i++) {
            long nanos = seeded.waitNanos(5);
            least = Math.min(least, nanos);
            most = Math.max(most, nanos);
        }
        assertThat(least).isBetween(800_000_000L, 810_000_000L);
        assertThat(most).isBetween(990_000_000L, 1_000_000_000L);
    }

    @Test
    @DisplayName("srv-13: what makes no sense is refused")
    void refused() {
        assertThatThrownBy(() -> Reconnect.backoff(Duration.ZERO, Duration.ofSeconds(1)))
                .hasMessageContaining("0 < min <= max");
        assertThatThrownBy(() -> Reconnect.backoff(Duration.ofSeconds(2), Duration.ofSeconds(1)))
                .hasMessageContaining("0 < min <= max");
        assertThatThrownBy(() -> EXACT.jitter(1.1)).hasMessageContaining("from 0 to 1, not 1.1");
        assertThatThrownBy(() -> EXACT.jitter(Double.NaN)).hasMessageContaining("from 0 to 1");
        assertThatThrownBy(() -> EXACT.maxAttempts(0)).hasMessageContaining("attempts");
        assertThatThrownBy(() -> EXACT.resetAfter(Duration.ofSeconds(-1))).hasMessageContaining("stood");
    }
}
