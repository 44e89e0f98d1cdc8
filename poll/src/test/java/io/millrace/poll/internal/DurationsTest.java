package io.millrace.poll.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Durations")
class DurationsTest {
    @Test
    @DisplayName("what is longer than 73 years is 73 years, and what is negative is -1")
    void nanos() {
        long most = Durations.MAX_NANOS / 1_000_000_000;
        assertThat(Durations.toNanos(Duration.ZERO)).isZero();
        assertThat(Durations.toNanos(Duration.ofNanos(1))).isEqualTo(1);
        assertThat(Durations.toNanos(Duration.ofNanos(-1))).isEqualTo(-1);
        assertThat(Durations.toNanos(Duration.ofSeconds(most - 1, 999_999_999))).isEqualTo(most * 1_000_000_000 - 1);
        assertThat(Durations.toNanos(Duration.ofSeconds(most))).isEqualTo(Durations.MAX_NANOS);
        assertThat(Durations.toNanos(Duration.ofSeconds(Long.MAX_VALUE))).isEqualTo(Durations.MAX_NANOS);
    }

    @Test
    @DisplayName("one that must be positive is not zero")
    void positive() {
        assertThat(Durations.positiveNanos(Duration.ofNanos(1), "it")).isEqualTo(1);
        assertThatThrownBy(() -> Durations.positiveNanos(Duration.ZERO, "it"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("it must be positive, not PT0S");
        assertThatThrownBy(() -> Durations.positiveNanos(Duration.ofNanos(-1), "it"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("whole seconds are rounded up, and both bounds are included")
    void seconds() {
        assertThat(Durations.wholeSeconds(Duration.ofSeconds(2), "it", 2, 4)).isEqualTo(2);
        assertThat(Durations.wholeSeconds(Duration.ofNanos(1_000_000_001), "it", 2, 4))
                .isEqualTo(2);
        assertThat(Durations.wholeSeconds(Duration.ofSeconds(4), "it", 2, 4)).isEqualTo(4);
        assertThatThrownBy(() -> Durations.wholeSeconds(Duration.ofNanos(4_000_000_001L), "it", 2, 4))
                .hasMessage("it is from 2 to 4 seconds long, not PT4.000000001S");
        assertThatThrownBy(() -> Durations.wholeSeconds(Duration.ofSeconds(1), "it", 2, 4))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Durations.wholeSeconds(Duration.ofNanos(-1), "it", 0, 4))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
