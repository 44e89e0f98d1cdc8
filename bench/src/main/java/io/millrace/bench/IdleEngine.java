package io.millrace.bench;

import io.millrace.engine.Reactors;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** An engine with nothing to do, for {@code bench/idle-strace} to look at. Prints a line once it has worked and rests. */
public final class IdleEngine {
    private IdleEngine() {}

    public static void main(String[] arguments) throws InterruptedException {
        try (Reactors manager = Reactors.builder().reactors(2).name("idle").open()) {
            manager.schedule(Duration.ofHours(1), fired -> {});
            CountDownLatch worked = new CountDownLatch(100);
            for (int i = 0; i < 100; i++) {
                manager.execute(worked::countDown);
            }
            worked.await();
            System.out.println("ready");
            new CountDownLatch(1).await();
        }
    }
}
