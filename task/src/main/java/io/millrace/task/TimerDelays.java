package io.millrace.task;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Delays over a given timer; if it does not keep a delay to the end, others take over. */
final class TimerDelays implements Delays {
    private final Function<? super Duration, ? extends CompletableFuture<?>> timer;
    private final Delays others;
    private final LongSupplier nanoTime;

    TimerDelays(
            Function<? super Duration, ? extends CompletableFuture<?>> timer, Delays others, LongSupplier nanoTime) {
        this.timer = Objects.requireNonNull(timer, "timer");
        this.others = others;
        this.nanoTime = nanoTime;
    }

    @Override
    public Runnable after(Duration delay, Runnable action) {
        Wait wait = new Wait(delay, Objects.requireNonNull(action, "action"));
        wait.begin();
        return wait;
    }

    /** One delay; running it cancels it. */
    private final class Wait implements Runnable {
        private final Duration delay;
        private final Runnable action;
        private final long began = nanoTime.getAsLong();
        /**
         * Cancels the delay at the timer that keeps it now. Both are guarded by this, which is not held while other
         * code is called.
         */
        private @Nullable Runnable keeper;

        private boolean cancelled;

        Wait(Duration delay, Runnable action) {
            this.delay = delay;
            this.action = action;
        }

        void begin() {
            CompletableFuture<?> future;
            try {
                future = timer.apply(delay);
            } catch (RejectedExecutionException ended) {
                keepElsewhere();
                return;
            }
            keptBy(() -> future.cancel(false));
            var ignored = future.whenComplete((nothing, failure) -> {
                if (failure == null) {
                    action.run();
                } else if (!isCancelled()) {
                    keepElsewhere();
                }
            });
        }

        private void keepElsewhere() {
            // Saturates: a delay of centuries means for ever.
            long left = TimeUnit.NANOSECONDS.convert(delay) - (nanoTime.getAsLong() - began);
            keptBy(others.after(Duration.ofNanos(Math.max(0, left)), action));
        }

        private void keptBy(Runnable latest) {
            synchronized (this) {
                keeper = latest;
                if (!cancelled) {
                    return;
                }
            }
            latest.run(); // cancelled before there was anything to cancel
        }

        private synchronized boolean isCancelled() {
            return cancelled;
        }

        @Override
        public void run() {
            Runnable latest;
            synchronized (this) {
                cancelled = true;
                latest = keeper;
            }
            if (latest != null) {
                latest.run();
            }
        }
    }
}
