package io.millrace.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("The console's threads")
@Timeout(60)
class RequestThreadsTest {
    @Test
    @DisplayName("obs-3: a deadline ends with its request: the next one on the same thread is not cut off")
    void aDeadlineEndsWithItsRequest() throws Exception {
        RequestThreads threads = new RequestThreads(Duration.ofSeconds(1), Duration.ofSeconds(60));
        Set<Thread> used = ConcurrentHashMap.newKeySet();
        List<CompletableFuture<Boolean>> first = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            first.add(new CompletableFuture<>());
            CompletableFuture<Boolean> ends = first.getLast();
            threads.execute(() -> {
                used.add(Thread.currentThread());
                ends.complete(true);
            });
        }
        for (CompletableFuture<Boolean> each : first) {
            each.get(20, TimeUnit.SECONDS);
        }
        CountDownLatch never = new CountDownLatch(1);
        List<CompletableFuture<Boolean>> second = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            second.add(new CompletableFuture<>());
            CompletableFuture<Boolean> ends = second.getLast();
            threads.execute(() -> {
                threads.haveRead();
                used.add(Thread.currentThread());
                try {
                    never.await(1_500, TimeUnit.MILLISECONDS); // past the deadlines of the first ones
                    ends.complete(true);
                } catch (InterruptedException e) {
                    ends.complete(false);
                }
            });
        }
        for (CompletableFuture<Boolean> each : second) {
            assertThat(each.get(20, TimeUnit.SECONDS)).as("ran to its end").isTrue();
        }
        assertThat(used).as("threads are used again").hasSizeLessThan(16);
        threads.close();
    }

    @Test
    @DisplayName(
            "obs-3: a request that is not read, or whose answer is not taken, in time is interrupted; its thread works on")
    void interruptsLateRequests() throws Exception {
        RequestThreads threads = new RequestThreads(Duration.ofMillis(50), Duration.ofMillis(100));
        CountDownLatch never = new CountDownLatch(1);
        for (boolean haveRead : new boolean[] {false, true}) {
            CompletableFuture<String> ends = new CompletableFuture<>();
            threads.execute(() -> {
                if (haveRead) {
                    threads.haveRead();
                }
                try {
                    never.await(20, TimeUnit.SECONDS);
                    ends.complete("waited for ever");
                } catch (InterruptedException e) {
                    ends.complete("interrupted");
                }
            });
            assertThat(ends.get(30, TimeUnit.SECONDS)).isEqualTo("interrupted");
        }
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        threads.execute(() -> interrupted.complete(Thread.currentThread().isInterrupted()));
        assertThat(interrupted.get(20, TimeUnit.SECONDS)).isFalse();
        threads.close();
    }
}
