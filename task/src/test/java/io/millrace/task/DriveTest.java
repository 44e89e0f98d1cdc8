package io.millrace.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("uni-3: a pollable as a future: when it is polled")
class DriveTest {
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();

    /** Is done at its third poll; may wake itself while it is polled. */
    private static final class Third implements Pollable<String> {
        private final boolean wakesItself;
        private @Nullable Waker waker;
        private int polls;
        private int cancels;

        Third(boolean wakesItself) {
            this.wakesItself = wakesItself;
        }

        @Override
        public Step<String> poll(Waker latest) {
            waker = latest;
            polls++;
            if (wakesItself) {
                latest.wake();
            }
            return polls == 3 ? Step.item("done") : Step.pending();
        }

        @Override
        public void cancel() {
            cancels++;
        }

        void wake() {
            if (waker != null) {
                waker.wake();
            }
        }
    }

    @Test
    @DisplayName("uni-3: it is polled at first and once for each wake-up, and not once more")
    void onceForEachWake() {
        Third third = new Third(false);
        CompletableFuture<String> future = third.toFuture(tasks::add);
        for (int polls = 1; polls < 3; polls++) {
            assertThat(third.polls).isEqualTo(polls);
            assertThat(tasks).isEmpty();
            third.wake();
            third.wake(); // one for both, since it has not run yet
            assertThat(tasks).hasSize(1);
            tasks.remove().run();
        }
        assertThat(third.polls).isEqualTo(3);
        assertThat(future).isCompletedWithValue("done");
    }

    @Test
    @DisplayName("uni-3: one that is woken while it is polled is polled again, behind the other tasks of its executor")
    void wokenWhilePolled() {
        Third third = new Third(true);
        CompletableFuture<String> future = third.toFuture(tasks::add);
        for (int polls = 1; polls <= 3; polls++) {
            assertThat(third.polls).isEqualTo(polls);
            assertThat(tasks).hasSize(polls < 3 ? 1 : 0);
            if (polls < 3) {
                tasks.remove().run();
            }
        }
        assertThat(future).isCompletedWithValue("done");
        third.wake();
        assertThat(tasks).isEmpty();
    }

    @Test
    @DisplayName("uni-3: an executor that runs tasks at once polls no more often than that either")
    void wokenInline() {
        Third third = new Third(true);
        assertThat(third.toFuture(Runnable::run)).isCompletedWithValue("done");
        assertThat(third.polls).isEqualTo(3);
    }

    /** Wakes itself in its first poll only, and is never done. */
    private static final class Once implements Pollable<String> {
        private int polls;

        @Override
        public Step<String> poll(Waker waker) {
            if (polls++ == 0) {
                waker.wake();
            }
            if (polls > 10) {
                throw new AssertionError("polled without a wake-up");
            }
            return Step.pending();
        }
    }

    @Test
    @DisplayName("uni-3: after the poll that a wake-up was for, it rests, also if the executor runs tasks at once")
    void onceInline() {
        Once once = new Once();
        assertThat(once.toFuture(Runnable::run)).isNotDone();
        assertThat(once.polls).isEqualTo(2);
    }

    @Test
    @DisplayName("uni-3: a future that is cancelled cancels it once, however often it is woken")
    void cancelledOnce() {
        Third third = new Third(false);
        CompletableFuture<String> future = third.toFuture(Runnable::run);
        future.cancel(false);
        third.wake();
        assertThat(third.cancels).isEqualTo(1);
        assertThat(third.polls).isEqualTo(1);
    }

    @Test
    @DisplayName("uni-3: one that fails is neither polled nor cancelled afterwards")
    void failedOnce() {
        Third third = new Third(false);
        Pollable<String> failing = new Pollable<>() {
            @Override
            public Step<String> poll(Waker waker) {
                var ignored = third.poll(waker);
                throw new IllegalStateException("thrown by a test");
            }

            @Override
            public void cancel() {
                third.cancel();
            }
        };
        assertThatThrownBy(() -> failing.toFuture(Runnable::run).get()).isInstanceOf(ExecutionException.class);
        third.wake();
        assertThat(third.polls).isEqualTo(1);
        assertThat(third.cancels).isZero();
    }

    @Test
    @DisplayName("uni-3: if the executor refuses, it is cancelled, and the future says why")
    void refused() {
        Third third = new Third(false);
        CompletableFuture<String> future = third.toFuture(task -> {
            throw new RejectedExecutionException("ended");
        });
        third.wake();
        third.wake();
        assertThat(third.cancels).isEqualTo(1);
        assertThatThrownBy(future::get).hasCauseInstanceOf(RejectedExecutionException.class);
    }
}
