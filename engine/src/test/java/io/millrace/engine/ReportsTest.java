package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.internal.Uninterruptibly;
import io.millrace.poll.ManualClock;
import io.millrace.poll.Registration;
import io.millrace.poll.Source;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("What an engine tells of itself")
@Timeout(30)
class ReportsTest {
    private final ManualClock clock = new ManualClock();

    private Reactors one() {
        return Reactors.builder().reactors(1).clock(clock).withoutWatchdog().open();
    }

    /** Something to run, or to be called by an alarm, that has a name and waits. */
    private record Named(String name, CountDownLatch entered, CountDownLatch open) implements Runnable, AlarmCallback {
        @Override
        public void run() {
            entered.countDown();
            Uninterruptibly.await(open);
        }

        @Override
        public void onAlarm(boolean fired) {
            // Only its name is looked at.
        }

        @Override
        public String toString() {
            return name;
        }
    }

    @Test
    @DisplayName("mr-2: during a blocked handler the dump says what runs, waits, is registered and comes next, and what"
            + " keeps it from shutting down")
    void dumpDuringABlockedHandler() throws Exception {
        CountDownLatch open = new CountDownLatch(1);
        Named blocked = new Named("the blocked one", new CountDownLatch(1), open);
        try (Reactors manager = one()) {
            Registration registration = new Registration();
            Source source = () -> registration;
            ReadinessDescriptor descriptor = manager.register(source);
            manager.schedule(Duration.ofSeconds(5), new Named("the next alarm", open, open));
            manager.shutdownRef();
            manager.execute(blocked);
            assertThat(blocked.entered().await(10, TimeUnit.SECONDS)).isTrue();
            manager.run(() -> {}, Priority.LOW);
            clock.advance(Duration.ofMillis(7));

            String dump = manager.dump();

            assertThat(dump).doesNotContain("RegistrationTerms");
            assertThat(dump)
                    .contains("has been in a turn for 7000 µs, in the blocked one")
                    .contains("1 tasks wait, LOW")
                    .contains("1 alarms are pending")
                    .contains("in 4993 ms alarm the next alarm")
                    .contains("source registration")
                    .contains("shutting down would wait for: 1 references (shutdownRef)");
            clock.advance(Duration.ofSeconds(6));
            assertThat(manager.dump()).contains("overdue by 1007 ms: alarm the next alarm");
            open.countDown();
            manager.shutdownUnref();
            descriptor.release();
        }
    }

    @Test
    @DisplayName("mr-4: the metrics count what a script did: tasks, alarms and how late, failures, wake-ups, depth")
    void metricsCountWhatHappened() throws Exception {
        try (Reactors manager = one()) {
            Metrics metrics = manager.metrics();
            CountDownLatch open = new CountDownLatch(1);
            Named blocked = new Named("blocked", new CountDownLatch(1), open);
            manager.execute(blocked);
            assertThat(blocked.entered().await(10, TimeUnit.SECONDS)).isTrue();
            long wakeUps = metrics.wakeUps();
            for (int i = 0; i < 10; i++) {
                manager.run(() -> {}, Priority.LOW);
            }
            manager.execute(() -> {
                throw new IllegalStateException("on purpose");
            });
            manager.schedule(0, fired -> {}, Priority.NORMAL);
            assertThat(metrics.queueDepth(Priority.LOW)).isEqualTo(10);
            assertThat(metrics.queueDepth(Priority.NORMAL)).isEqualTo(1);
            clock.advance(Duration.ofMillis(3));
            CompletableFuture<Long> last = new CompletableFuture<>();
            manager.run(() -> manager.run(() -> last.complete(metrics.wakeUps()), Priority.LOW), Priority.LOW);
            open.countDown();
            long wakeUpsAfter = last.get(10, TimeUnit.SECONDS);
            manager.shutdown();
            assertThat(manager.awaitTermination(Duration.ofSeconds(10))).isTrue();

            // The blocked one, ten, the one that threw, the alarm, and the two that ended it; the last turn is not
            // counted.
            assertThat(metrics.delivered()).isBetween(14L, 15L);
            assertThat(metrics.alarmsDue()).isEqualTo(1);
            assertThat(metrics.loopLag().maxNanos()).isEqualTo(3_000_000);
            assertThat(metrics.turnTime().maxNanos()).isEqualTo(3_000_000);
            assertThat(metrics.failures()).isEqualTo(1);
            assertThat(metrics.queueDepth(Priority.LOW)).isZero();
            // A reactor that works is not woken.
            assertThat(wakeUpsAfter).isEqualTo(wakeUps);
            assertThat(metrics.turns()).isGreaterThanOrEqualTo(2);
        }
    }
}
