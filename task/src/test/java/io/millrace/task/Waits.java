package io.millrace.task;

import static org.awaitility.Awaitility.await;

import java.time.Duration;

/** Waiting for what can't be waited for otherwise. */
final class Waits {
    private Waits() {}

    static void untilParked(Thread thread) {
        await().pollInterval(Duration.ofMillis(1)).until(() -> thread.getState() == Thread.State.WAITING);
    }
}
