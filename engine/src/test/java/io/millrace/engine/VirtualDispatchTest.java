package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.poll.Channel;
import io.millrace.poll.Interest;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Handlers of an EventLoop on virtual threads")
@Timeout(30)
class VirtualDispatchTest {
    private final LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();
    private final Channel<String> one = Channel.unbounded();
    private final Channel<String> two = Channel.unbounded();

    @AfterEach
    void close() {
        one.close();
        two.close();
    }

    private static EventLoop open(String backend, boolean onLoops) {
        return EventLoop.builder()
                .dispatch(Dispatch.VIRTUAL)
                .backend(backend)
                .loopThreads(onLoops)
                .withoutWatchdog()
                .open();
    }

    private static String carrier() {
        String text = Thread.currentThread().toString();
        return text.substring(text.indexOf('@') + 1);
    }

    private static Thread run(EventLoop loop) {
        return Thread.ofPlatform().name("the-loop").start(loop::run);
    }

    @ParameterizedTest
    @CsvSource({"epoll, true", "poll, true", "nio, true", "epoll, false"})
    @DisplayName(
            "vt-2 they run on the loop's own thread where the JVM allows it, and may wait there: others are served")
    void onTheLoop(String backend, boolean onLoops) throws Exception {
        boolean expected = onLoops && VirtualThreadReport.probe().onLoops();
        assertThat(VirtualThreadReport.probe().onLoops()).isTrue(); // this module's tests run with the flag
        CompletableFuture<Void> answer = new CompletableFuture<>();
        try (EventLoop loop = open(backend, onLoops)) {
            loop.register(one, 1, Interest.READABLE, (on, token, readiness) -> {
                while (one.poll() != null) {
                    log.add(carrier());
                    answer.join();
                    log.add(carrier());
                }
            });
            loop.register(two, 2, Interest.READABLE, (on, token, readiness) -> {
                while (two.poll() != null) {
                    answer.complete(null);
                }
            });
            Thread runner = run(loop);
            one.send("wait");
            String first = log.poll(10, TimeUnit.SECONDS);
            two.send("go on");
            String second = log.poll(10, TimeUnit.SECONDS);
            assertThat(first.contains("the-loop")).as(first).isEqualTo(expected);
            assertThat(second.contains("the-loop")).as(second).isEqualTo(expected);
            loop.stop();
            runner.join();
        }
    }

    @Test
    @DisplayName("vt-2 they run elsewhere if the loop is run by a virtual thread, which cannot carry another")
    void loopOnAVirtualThread() throws Exception {
        try (EventLoop loop = open("epoll", true)) {
            loop.register(one, 1, Interest.READABLE, (on, token, readiness) -> {
                while (one.poll() != null) {
                    log.add(carrier());
                    Thread.yield();
                    log.add(carrier());
                }
            });
            Thread runner = Thread.ofVirtual().name("the-loop").start(loop::run);
            one.send("go");
            assertThat(log.poll(10, TimeUnit.SECONDS)).contains("ForkJoinPool");
            assertThat(log.poll(10, TimeUnit.SECONDS)).contains("ForkJoinPool");
            loop.stop();
            runner.join();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("vt-2 a handler that waits goes on elsewhere when nobody runs its loop")
    void nobodyRunsTheLoop(boolean early) throws Exception {
        CountDownLatch waits = new CountDownLatch(1);
        CompletableFuture<Void> answer = new CompletableFuture<>();
        try (EventLoop loop = open("epoll", true)) {
            loop.register(one, 1, Interest.READABLE, (on, token, readiness) -> {
                one.poll();
                waits.countDown();
                answer.join();
                log.add(carrier());
            });
            one.send("wait");
            if (early) {
                // Resumed while its turn runs, and left in the queue when the turn is over.
                loop.register(two, 2, Interest.READABLE, (on, token, readiness) -> answer.complete(null));
                two.send("go on");
            }
            loop.runOnce(Duration.ofSeconds(10));
            waits.await();
            answer.complete(null);
            assertThat(log.poll(10, TimeUnit.SECONDS)).contains("ForkJoinPool");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("vt-6 a loop that is closed waits for its handlers, which go on meanwhile, and not until the deadline")
    void closing(boolean running) throws Exception {
        CountDownLatch waits = new CountDownLatch(1);
        CompletableFuture<Void> answer = new CompletableFuture<>();
        EventLoop loop = open("epoll", true);
        loop.register(one, 1, Interest.READABLE, (on, token, readiness) -> {
            one.poll();
            waits.countDown();
            answer.join();
            log.add("ended");
        });
        one.send("wait");
        Thread runner = null;
        if (running) {
            runner = run(loop);
        } else {
            loop.runOnce(Duration.ofSeconds(10));
        }
        waits.await();
        CompletableFuture<Object> closed = CompletableFuture.supplyAsync(() -> loop.shutdown(Duration.ofSeconds(25)));
        await().until(() -> loop.dump().contains("in flight") || closed.isDone());
        answer.complete(null);
        assertThat(closed.get(10, TimeUnit.SECONDS)).isEqualTo(java.util.List.of());
        assertThat(log).containsExactly("ended");
        if (runner != null) {
            runner.join();
        }
    }

    @Test
    @DisplayName("vt-6 a loop that is closed does not wait for handlers that have returned before")
    void closingAfterwards() throws Exception {
        EventLoop loop = open("epoll", true);
        loop.register(one, 1, Interest.READABLE, (on, token, readiness) -> log.add("" + one.poll()));
        one.send("once");
        loop.runOnce(Duration.ofSeconds(10));
        assertThat(log).hasSize(1);
        CompletableFuture<Object> closed = CompletableFuture.supplyAsync(() -> loop.shutdown(Duration.ofHours(1)));
        assertThat(closed.get(20, TimeUnit.SECONDS)).isEqualTo(java.util.List.of());
    }

    @ParameterizedTest
    @CsvSource({"epoll, true", "poll, true", "nio, true", "epoll, false"})
    @DisplayName("vt-5 they wait for other sources on their loop")
    void waits(String backend, boolean onLoops) throws Exception {
        AtomicInteger calls = new AtomicInteger();
        try (EventLoop loop = open(backend, onLoops);
                Registration other = new Registration()) {
            loop.register(one, 1, Interest.READABLE, (on, token, readiness) -> {
                while (one.poll() != null) {
                    calls.incrementAndGet();
                    log.add("" + OnLoop.await(other, Interest.READABLE));
                }
            });
            Thread runner = run(loop);
            one.send("wait");
            await().until(() -> calls.get() == 1);
            other.setReadiness(Readiness.READABLE);
            assertThat(log.poll(10, TimeUnit.SECONDS)).isEqualTo("" + Readiness.READABLE);
            loop.stop();
            runner.join();
        }
    }
}
