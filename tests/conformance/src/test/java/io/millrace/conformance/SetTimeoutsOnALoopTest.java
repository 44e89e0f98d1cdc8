package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Dispatch;
import io.millrace.engine.EventLoop;
import io.millrace.engine.Reactors;
import io.millrace.poll.Interest;
import io.millrace.poll.ManualClock;
import io.millrace.task.Delays;
import io.millrace.task.Failed;
import io.millrace.task.FuturesUnordered;
import io.millrace.task.Outcome;
import io.millrace.task.Step;
import io.millrace.task.StreamSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The clock of the loop is the test's: what comes at its word does not come from any timer of the JDK. */
@DisplayName("Timeouts of a set, kept by a loop")
class SetTimeoutsOnALoopTest {
    private static final Duration MINUTE = Duration.ofMinutes(1);
    /** An alarm is up to a tick late. */
    private static final Duration TICK = Duration.ofMillis(2);

    private final ManualClock clock = new ManualClock();

    @Test
    @DisplayName("mr-8: the alarms of a set that is a source on a loop ring by the loop's clock, on its thread")
    void onAnEventLoop() {
        List<Step<String>> seen = new ArrayList<>();
        try (EventLoop loop = EventLoop.builder()
                        .clock(clock)
                        .dispatch(Dispatch.LOOP)
                        .workers(1)
                        .open();
                FuturesUnordered<String> set = FuturesUnordered.<String>builder()
                        .timeout(MINUTE)
                        .alarms(Delays.of(loop::after))
                        .build();
                StreamSource<String> source = set.toSource()) {
            loop.register(source, 1, Interest.READABLE, (registered, token, ready) -> {
                Step<String> step = source.poll();
                while (step instanceof Outcome) {
                    seen.add(step);
                    step = source.poll();
                }
            });
            set.add(new CompletableFuture<>());
            turns(loop);
            clock.advance(MINUTE.minusNanos(1));
            turns(loop);
            assertThat(seen).isEmpty();
            clock.advance(TICK);
            turns(loop);
            assertThat(seen)
                    .singleElement()
                    .isInstanceOfSatisfying(
                            Failed.class, failed -> assertThat(failed.cause()).isInstanceOf(TimeoutException.class));
        }
    }

    private static void turns(EventLoop loop) {
        for (int i = 0; i < 4; i++) {
            loop.runOnce(Duration.ZERO);
        }
    }

    @Test
    @DisplayName("mr-8: the alarms of a set that a thread waits for ring by the clock of the manager that keeps them")
    void onAManager() throws Exception {
        try (Reactors manager = Reactors.builder().clock(clock).reactors(1).open();
                FuturesUnordered<String> set = FuturesUnordered.<String>builder()
                        .timeout(MINUTE)
                        .alarms(Delays.of(manager::after))
                        .build()) {
            set.add(new CompletableFuture<>());
            assertThat(set.poll(() -> {})).isEqualTo(Step.pending());
            clock.advance(MINUTE.plus(TICK));
            assertThat(set.next())
                    .isInstanceOfSatisfying(
                            Failed.class, failed -> assertThat(failed.cause()).isInstanceOf(TimeoutException.class));
        }
    }
}
