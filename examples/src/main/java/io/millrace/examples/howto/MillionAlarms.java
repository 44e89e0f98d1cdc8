package io.millrace.examples.howto;

import io.millrace.engine.AlarmKey;
import io.millrace.engine.CancelResult;
import io.millrace.engine.Reactors;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** A million alarms: half of them fire, half are cancelled. */
public final class MillionAlarms {
    private MillionAlarms() {}

    /**
     * Sets alarms, cancels every other one, and waits for the rest.
     *
     * @param args how many
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(String[] args) throws InterruptedException {
        int count = args.length == 0 ? 1_000_000 : Integer.parseInt(args[0]);
        AtomicInteger fired = new AtomicInteger();
        AtomicInteger cancelled = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(count);
        try (Reactors reactors = Reactors.open()) {
            List<AlarmKey> keys = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                keys.add(reactors.schedule(Duration.ofMillis(2_000 + i % 1_000), hasFired -> {
                    (hasFired ? fired : cancelled).incrementAndGet(); // each callback is called once
                    done.countDown();
                }));
            }
            int tooLate = 0;
            for (int i = 0; i < count; i += 2) {
                if (reactors.cancel(keys.get(i)) != CancelResult.CANCELLED) {
                    tooLate++;
                }
            }
            done.await();
            System.out.println(fired + " fired, " + cancelled + " cancelled, " + tooLate + " too late");
            System.out.println(reactors.metrics().loopLag());
        }
    }
}
