package io.millrace.task;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * Calls back after a delay; used for the timeouts of children.
 *
 * <p>By default, these are the JDK's own ({@link #system}). In a program with an event loop, let the loop keep them, on
 * its own wheel and its own thread:
 *
 * {@snippet :
 * FuturesUnordered.<Page>builder()
 *         .timeout(Duration.ofSeconds(5))
 *         .alarms(Delays.of(loop::after)) // an EventLoop or an EventManager
 *         .build();
 * }
 *
 * <p>A set does not choose a loop by itself, not even one on which it is a {@linkplain StreamSource source}. It may be
 * consumed elsewhere next, and if the loop were stopped, the set's timeouts would stop with it.
 */
@FunctionalInterface
public interface Delays {
    /**
     * Runs an action after a delay, never early.
     *
     * @param delay how long to wait; a negative delay counts as zero
     * @param action a short action; called at most once, by any thread
     * @return cancels it; may be called at any time, any number of times
     */
    Runnable after(Duration delay, Runnable action);

    /**
     * Returns the JDK's own delays: one thread for all, started with the first one.
     *
     * @return delays over the common pool
     */
    static Delays system() {
        return SystemDelays.INSTANCE;
    }

    /**
     * Returns delays over a timer whose futures complete when the time is over, such as {@code EventLoop.after} and
     * {@code EventManager.after}. An action then runs on the thread that completes the future: that of the loop, which
     * needs no wake-up for it.
     *
     * <p>No delay is lost with its timer. If the timer refuses one with a {@link
     * java.util.concurrent.RejectedExecutionException}, or its future fails or is cancelled before the time is over, as
     * happens when a loop is closed, {@link #system} takes over the rest.
     *
     * @param timer returns a new future for each delay; cancelling that future cancels the delay
     * @return delays over this timer
     */
    static Delays of(Function<? super Duration, ? extends CompletableFuture<?>> timer) {
        return new TimerDelays(timer, system(), System::nanoTime);
    }
}
