package io.millrace.bench;

import io.millrace.engine.Priority;
import io.millrace.engine.Reactors;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;

/** How often an otherwise idle loop asks the kernel while 10,000 alarms fire over 10 s: with the slack in milliseconds that each argument names. */
public final class IdleWaits {
    private static final int ALARMS = 10_000;
    private static final long SPAN_NANOS = 10_000_000_000L;

    private IdleWaits() {}

    public static void main(String[] arguments) throws InterruptedException {
        for (String slackMillis : arguments.length == 0 ? new String[] {"0", "10", "100"} : arguments) {
            Duration slack = Duration.ofMillis(Long.parseLong(slackMillis));
            try (Reactors manager = Reactors.builder().reactors(1).open()) {
                CountDownLatch fired = new CountDownLatch(ALARMS);
                SplittableRandom random = new SplittableRandom(42);
                CountDownLatch set = new CountDownLatch(1);
                manager.execute(() -> {
                    long now = manager.clock().nanoTime();
                    for (int i = 0; i < ALARMS; i++) {
                        long deadline = now + 100_000_000 + random.nextLong(SPAN_NANOS);
                        manager.schedule(deadline, slack, told -> fired.countDown(), Priority.NORMAL);
                    }
                    set.countDown();
                });
                set.await();
                long before = manager.metrics().waits();
                fired.await();
                System.out.printf(
                        "slack %4s ms: %6d waits for %d alarms in 10 s, p99 of the lag %d µs%n",
                        slackMillis,
                        manager.metrics().waits() - before,
                        ALARMS,
                        manager.metrics().loopLag().percentileNanos(99) / 1_000);
            }
        }
    }
}
