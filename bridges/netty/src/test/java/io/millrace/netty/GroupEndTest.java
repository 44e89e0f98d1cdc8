package io.millrace.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.BlockedLoop;
import io.millrace.engine.Reactors;
import io.millrace.poll.ManualClock;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoopGroup;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Groups on reactors that end while the reactors go on, and what the reactors say of them. */
class GroupEndTest {
    @ParameterizedTest
    @ValueSource(longs = {5, Long.MAX_VALUE / 1_000_000_000, Long.MAX_VALUE})
    @DisplayName("nty-5: a group ends after its quiet period, in few turns, however long it may take at most")
    void anyTimeout(long timeoutSeconds) throws Exception {
        ManualClock clock = new ManualClock();
        try (Reactors reactors =
                Reactors.builder().reactors(1).clock(clock).withoutWatchdog().open()) {
            IoEventLoopGroup group = Millrace.groupOn(reactors);
            group.submit(() -> {}).sync();
            clock.advance(Duration.ofSeconds(1)); // so that time since the beginning is not nothing
            group.shutdownGracefully(2, timeoutSeconds, TimeUnit.SECONDS);
            for (int i = 0; i < 10; i++) {
                CompletableFuture<Void> turn = new CompletableFuture<>();
                reactors.execute(() -> turn.complete(null));
                turn.get(10, TimeUnit.SECONDS);
            }
            assertThat(group.isTerminated()).isFalse();
            long before = reactors.metrics().turns();
            clock.advance(Duration.ofSeconds(2).plusMillis(2));
            assertThat(group.terminationFuture().await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(reactors.metrics().turns() - before).isLessThan(20);
        }
    }

    @Test
    @DisplayName("nty-5: a group that has ended takes no timer, on the reactor's thread neither")
    void noTimerAfterTheEnd() throws Exception {
        try (Reactors reactors = Reactors.builder().reactors(1).open()) {
            IoEventLoopGroup group = Millrace.groupOn(reactors);
            EventLoop loop = group.next();
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
            List<Callable<?>> timers = List.of(
                    () -> loop.schedule(() -> {}, 1, TimeUnit.HOURS),
                    () -> loop.schedule(() -> "a value", 1, TimeUnit.HOURS),
                    () -> loop.scheduleAtFixedRate(() -> {}, 1, 1, TimeUnit.HOURS),
                    () -> loop.scheduleWithFixedDelay(() -> {}, 1, 1, TimeUnit.HOURS));
            for (Callable<?> timer : timers) {
                CompletableFuture<Object> onTheThread = new CompletableFuture<>();
                reactors.execute(() -> {
                    try {
                        onTheThread.complete(timer.call());
                    } catch (Exception e) {
                        onTheThread.complete(e);
                    }
                });
                assertThat(onTheThread.get(10, TimeUnit.SECONDS)).isInstanceOf(RejectedExecutionException.class);
                assertThatThrownBy(timer::call).isInstanceOf(RejectedExecutionException.class);
            }
        }
    }

    @Test
    @DisplayName("nty-5: groups that have ended leave nothing on reactors that go on")
    void nothingIsKept() throws Exception {
        try (Reactors reactors = Reactors.builder().reactors(1).open()) {
            List<WeakReference<IoEventLoopGroup>> ended = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                IoEventLoopGroup group = Millrace.groupOn(reactors);
                group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
                ended.add(new WeakReference<>(group));
            }
            await().until(() -> {
                System.gc();
                return ended.stream().allMatch(group -> group.refersTo(null));
            });
        }
    }

    @Test
    @DisplayName("nty-2: reactors that have ended refuse a group, and say so")
    void afterTheReactors() {
        Reactors reactors = Reactors.builder().reactors(2).open();
        reactors.close();
        assertThatThrownBy(() -> Millrace.groupOn(reactors))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessageContaining("has shut down");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("nty-5: the watchdog names the timer that blocks the reactor")
    void theWatchdogNamesATimer(boolean setOnTheLoop) throws Exception {
        BlockingQueue<BlockedLoop> reports = new LinkedBlockingQueue<>();
        CountDownLatch done = new CountDownLatch(1);
        try (Reactors reactors = Reactors.builder()
                .reactors(1)
                .watchdog(Duration.ofMillis(50), reports::add)
                .open()) {
            IoEventLoopGroup group = Millrace.groupOn(reactors);
            EventLoop loop = group.next();
            Runnable set = () -> loop.schedule(new Slow(done), 1, TimeUnit.MILLISECONDS);
            if (setOnTheLoop) {
                loop.submit(set).sync();
            } else {
                set.run();
            }
            BlockedLoop report = reports.poll(10, TimeUnit.SECONDS);
            done.countDown();
            assertThat(report).isNotNull();
            assertThat(report.toString()).contains("Netty's timer", "a slow one");
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    private record Slow(CountDownLatch done) implements Runnable {
        @Override
        public void run() {
            try {
                done.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public String toString() {
            return "a slow one";
        }
    }
}
