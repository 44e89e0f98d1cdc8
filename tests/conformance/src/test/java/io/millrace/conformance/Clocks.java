package io.millrace.conformance;

import io.millrace.poll.ManualClock;
import io.millrace.testkit.Await;
import io.millrace.testkit.Background;
import java.time.Duration;

/** Waiting for what takes its time from a clock that the test moves. */
final class Clocks {
    private Clocks() {}

    /** Moves the clock for as long as something goes on: in steps, so that whoever begins to wait now has a next one. */
    static <T> T advanceUntilDone(ManualClock clock, Background<T> work) {
        Await.until("it returns when its time is over", () -> {
            clock.advance(Duration.ofMillis(50));
            return work.isDone();
        });
        return work.result();
    }

    static void awaitNoThread(String prefix) {
        Await.until(
                "no thread is left of " + prefix,
                () -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().startsWith(prefix)));
    }
}
