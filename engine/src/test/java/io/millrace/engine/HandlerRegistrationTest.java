package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.Interest;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Source;
import io.millrace.poll.Trigger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of a source between the kernel's report and its handler, turn by turn. */
@DisplayName("A source of an event loop")
@Timeout(30)
class HandlerRegistrationTest {
    private final List<String> seen = Collections.synchronizedList(new ArrayList<>());

    /** A source in software; {@link #whenAsked} runs once, when somebody is about to tell the kernel of it. */
    private static final class Soft implements Source {
        final Registration registration = new Registration();
        final AtomicReference<Runnable> whenAsked = new AtomicReference<>();

        @Override
        public Registration handle() {
            Runnable hook = whenAsked.getAndSet(null);
            if (hook != null) {
                hook.run();
            }
            return registration;
        }

        void ready(Readiness readiness) {
            registration.setReadiness(readiness);
        }
    }

    /** Driven by the test, turn by turn. */
    private static EventLoop loop() {
        return builder().dispatch(Dispatch.LOOP).open();
    }

    private static EventLoop.Builder builder() {
        return EventLoop.builder().workers(1).withoutWatchdog();
    }

    private EventHandler noting(String name) {
        return (loop, token, readiness) -> seen.add(name + " " + readiness);
    }

    private static void turn(EventLoop loop) {
        loop.runOnce(Duration.ZERO);
    }

    /** Turns a loop until something is there, or the test takes too long. */
    private static void turnUntil(EventLoop loop, CountDownLatch there) {
        while (there.getCount() > 0) {
            loop.runOnce(Duration.ofMillis(1));
        }
    }

    @Test
    @DisplayName("mill-16: gets in one call all that it became ready for before its turn")
    void pendingIsGathered() {
        try (EventLoop loop = builder().dispatch(Dispatch.LOOP).budget(1).open()) {
            Soft first = new Soft();
            Soft second = new Soft();
            loop.register(first, 1, Interest.READ_WRITE, noting("first"));
            loop.register(second, 2, Interest.READ_WRITE, noting("second"));
            first.ready(Readiness.READABLE);
            second.ready(Readiness.READABLE);
            turn(loop); // one item: the other source waits in the queue
            assertThat(seen).containsExactly("first READABLE");

            second.registration.replaceReadiness(Readiness.WRITABLE);
            turn(loop);

            assertThat(seen).containsExactly("first READABLE", "second READABLE|WRITABLE");
        }
    }

    @Test
    @DisplayName("mill-1: is not called when an earlier handler of the turn has deregistered it")
    void deregisteredInTheTurn() {
        try (EventLoop loop = loop()) {
            Soft first = new Soft();
            Soft second = new Soft();
            loop.register(first, 1, Interest.READABLE, (l, token, readiness) -> {
                seen.add("first");
                l.deregister(2);
            });
            loop.register(second, 2, Interest.READABLE, noting("second"));
            first.ready(Readiness.READABLE);
            second.ready(Readiness.READABLE);

            turn(loop);
            turn(loop);

            assertThat(seen).containsExactly("first");
        }
    }

    @Test
    @DisplayName("mill-1: is not called by a worker when it was deregistered before its turn there")
    void deregisteredBeforeItsWorker() throws Exception {
        CountDownLatch dispatched = new CountDownLatch(1);
        CountDownLatch third = new CountDownLatch(1);
        try (EventLoop loop = builder().dispatch(Dispatch.POOL).open()) {
            Soft[] sources = {new Soft(), new Soft(), new Soft()};
            loop.register(sources[0], 1, Interest.READABLE, (l, token, readiness) -> {
                seen.add("first");
                dispatched.await();
                l.deregister(2);
            });
            loop.register(sources[1], 2, Interest.READABLE, noting("second"));
            loop.register(sources[2], 3, Interest.READABLE, (l, token, readiness) -> third.countDown());
            for (Soft source : sources) {
                source.ready(Readiness.READABLE);
            }
            turn(loop);
            dispatched.countDown();
            assertThat(third.await(10, TimeUnit.SECONDS)).isTrue();

            assertThat(seen).containsExactly("first");
        }
    }

    @Test
    @DisplayName("grpc-2: runs by its priority, whatever became ready first")
    void priorities() {
        try (EventLoop loop = loop()) {
            Priority[] order = {Priority.LOW, Priority.HIGH, Priority.NORMAL, Priority.IMMEDIATE};
            for (Priority priority : order) {
                Soft source = new Soft();
                loop.register(
                        source,
                        priority.ordinal(),
                        Interest.READABLE,
                        Trigger.EDGE,
                        priority,
                        (l, token, readiness) -> seen.add(priority.name()));
                source.ready(Readiness.READABLE);
            }

            turn(loop);

            assertThat(seen).containsExactly("IMMEDIATE", "HIGH", "NORMAL", "LOW");
        }
    }

    @Test
    @DisplayName("mio-9: is not called with what an earlier handler of the turn has taken out of its interest")
    void maskedInTheTurn() {
        try (EventLoop loop = loop()) {
            Soft first = new Soft();
            Soft second = new Soft();
            loop.register(first, 1, Interest.READABLE, (l, token, readiness) -> {
                seen.add("first");
                l.reregister(2, Interest.WRITABLE, Trigger.EDGE);
            });
            loop.register(second, 2, Interest.READABLE, noting("second"));
            first.ready(Readiness.READABLE);
            second.ready(Readiness.READABLE);

            turn(loop);
            turn(loop);
            assertThat(seen).containsExactly("first");

            second.ready(Readiness.WRITABLE);
            turn(loop);
            assertThat(seen).containsExactly("first", "second WRITABLE");
        }
    }

    @Test
    @DisplayName(
            "mill-1, mio-26: is shown to the kernel after a call as it was asked for last, also at that very moment")
    void reregisteredWhileShown() {
        CountDownLatch written = new CountDownLatch(1);
        try (EventLoop loop = builder().dispatch(Dispatch.POOL).open()) {
            Soft source = new Soft();
            CountDownLatch changed = new CountDownLatch(1);
            loop.register(source, 1, Interest.READABLE, Trigger.LEVEL, Priority.NORMAL, (l, token, readiness) -> {
                if (readiness.isReadable()) {
                    source.registration.unsetReadiness(Readiness.READABLE);
                    source.whenAsked.set(() -> {
                        l.reregister(1, Interest.WRITABLE, Trigger.LEVEL);
                        changed.countDown();
                    });
                } else {
                    source.registration.unsetReadiness(Readiness.WRITABLE);
                    written.countDown();
                }
            });
            source.ready(Readiness.READABLE);
            turnUntil(loop, changed);

            source.ready(Readiness.WRITABLE);
            turnUntil(loop, written);
        }
    }

    @Test
    @DisplayName("mill-4: whose handler throws InterruptedException leaves its thread interrupted")
    void interruptedHandler() {
        try (EventLoop loop = loop()) {
            Soft source = new Soft();
            loop.register(source, 1, Interest.READABLE, new EventHandler() {
                @Override
                public void ready(EventLoop l, long token, Readiness readiness) throws Exception {
                    throw new InterruptedException("on purpose");
                }

                @Override
                public void onError(EventLoop l, long token, Throwable failure) {
                    seen.add("told, interrupted: " + Thread.currentThread().isInterrupted());
                }
            });
            source.ready(Readiness.READABLE);
            turn(loop);

            assertThat(Thread.interrupted()).isTrue();
            assertThat(seen).containsExactly("told, interrupted: true");
        }
    }

    @Test
    @DisplayName("mill-3: whose handler blocks holds one worker of a pool, and the others work")
    void oneWorkerBlocks() {
        CountDownLatch second = new CountDownLatch(1);
        CountDownLatch first = new CountDownLatch(1);
        try (EventLoop loop = builder().workers(2).dispatch(Dispatch.POOL).open()) {
            Soft blocking = new Soft();
            Soft other = new Soft();
            loop.register(blocking, 1, Interest.READABLE, (l, token, readiness) -> {
                second.await();
                first.countDown();
            });
            loop.register(other, 2, Interest.READABLE, (l, token, readiness) -> second.countDown());
            blocking.ready(Readiness.READABLE);
            other.ready(Readiness.READABLE);

            turnUntil(loop, first);
        }
    }

    @Test
    @DisplayName("mill-4: whose handler leaves a worker interrupted is called again by it")
    void aWorkerOutlivesAnInterrupt() {
        CountDownLatch twice = new CountDownLatch(2);
        try (EventLoop loop = builder().dispatch(Dispatch.POOL).open()) {
            Soft source = new Soft();
            loop.register(source, 1, Interest.READABLE, (l, token, readiness) -> {
                Thread.currentThread().interrupt();
                twice.countDown();
            });
            while (twice.getCount() > 0) {
                source.ready(Readiness.READABLE);
                loop.runOnce(Duration.ofMillis(1));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("mill-2: that was refused leaves its token free")
    void aRefusedSourceTakesNoToken(Dispatch mode) {
        try (EventLoop loop = builder().dispatch(mode).open()) {
            Soft closed = new Soft();
            closed.registration.close();
            assertThatThrownBy(() -> loop.register(closed, 1, Interest.READABLE, noting("closed")))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed");

            loop.register(new Soft(), 1, Interest.READABLE, noting("open"));
        }
    }

    @Test
    @DisplayName("mill-1: has a loop of its own among several, and what its handler executes stays there")
    void severalLoops() throws Exception {
        int loops = 3;
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        List<CompletableFuture<Boolean>> stays = new ArrayList<>();
        try (EventLoop loop = builder().workers(loops).dispatch(Dispatch.LOOP).open()) {
            Thread runner = Thread.ofPlatform().start(loop::run);
            for (int i = 0; i < loops; i++) {
                CompletableFuture<Boolean> stayed = new CompletableFuture<>();
                stays.add(stayed);
                Soft source = new Soft();
                loop.register(source, i, Interest.READABLE, (l, token, readiness) -> {
                    Thread here = Thread.currentThread();
                    threads.add(here);
                    l.execute(() -> stayed.complete(Thread.currentThread().equals(here)));
                });
                source.ready(Readiness.READABLE);
            }
            for (CompletableFuture<Boolean> stayed : stays) {
                assertThat(stayed.get(10, TimeUnit.SECONDS)).isTrue();
            }
            loop.stop();
            assertThat(runner.join(Duration.ofSeconds(10))).isTrue();
        }
        assertThat(threads).hasSize(loops);
    }

    @Test
    @DisplayName("grpc-6, end-7: nobody waits for an alarm whose future was cancelled, or completed by somebody else")
    void cancelledFutures() {
        try (EventLoop loop = loop()) {
            for (int i = 0; i < 100; i++) {
                loop.after(Duration.ofDays(1)).cancel(false);
                loop.after(Duration.ofDays(1)).completeExceptionally(new IllegalStateException("on purpose"));
            }
            turn(loop);
            turn(loop);

            assertThat(loop.metrics().alarmsPending()).isZero();
        }
    }
}
