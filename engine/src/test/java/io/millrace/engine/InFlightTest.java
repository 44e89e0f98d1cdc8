package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.poll.Interest;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Source;
import io.millrace.poll.Trigger;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A level-triggered source whose handler another thread calls")
@Timeout(60)
@SuppressWarnings("ReferenceEquality") // a thread is itself
class InFlightTest {
    private final Registration registration = new Registration();
    private final AtomicInteger calls = new AtomicInteger();
    private final CountDownLatch firstCall = new CountDownLatch(1);
    private final CountDownLatch go = new CountDownLatch(1);
    private final CountDownLatch thirdCall = new CountDownLatch(1);
    private volatile @Nullable Thread worker;
    private volatile @Nullable Thread stopped;

    /** Each change of a registration asks for the handle first: there a thread can be held, between what it decided and what it does. */
    private final Source source = () -> {
        if (Thread.currentThread() == stopped) {
            stopped = null;
            go.countDown();
            awaitWorker();
        }
        return registration;
    };

    private void awaitWorker() {
        Thread thread = worker;
        while (calls.get() < 2 || thread == null || thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
    }

    @Test
    @DisplayName("is not hidden for ever when a call ends while the loop is about to hide it")
    void hiddenTooLate() throws Exception {
        try (EventLoop loop =
                EventLoop.builder().dispatch(Dispatch.POOL).workers(1).open()) {
            loop.register(source, 1, Interest.READABLE, Trigger.LEVEL, Priority.NORMAL, (l, token, ready) -> {
                switch (calls.incrementAndGet()) {
                    case 1 -> {
                        worker = Thread.currentThread();
                        // It can be seen again, and is reported though it is in flight.
                        l.reregister(token, Interest.READABLE, Trigger.LEVEL);
                        firstCall.countDown();
                        go.await();
                    }
                    case 3 -> {
                        registration.unsetReadiness(Readiness.READABLE);
                        thirdCall.countDown();
                    }
                    default -> {}
                }
            });
            registration.setReadiness(Readiness.READABLE);
            loop.runOnce(Duration.ofSeconds(10));
            assertThat(firstCall.await(10, TimeUnit.SECONDS)).isTrue();
            // In this turn the loop is held before it hides the source, until the worker has made the second call and
            // shown it.
            stopped = Thread.currentThread();
            loop.runOnce(Duration.ofSeconds(10));
            assertThat(calls).hasValue(2);
            loop.runOnce(Duration.ofMillis(100));
            assertThat(thirdCall.await(10, TimeUnit.SECONDS)).isTrue();
        }
    }
}
