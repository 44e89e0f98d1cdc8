package io.millrace.task;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;

/**
 * A value that will be available later and is asked for by polling: the child of a {@link FuturesUnordered}.
 *
 * <p><b>To implement it</b>, check whether the value is there; if not, keep the waker, check once more, and return
 * {@link Step#pending()}. Call the waker, from any thread, when a poll is worthwhile; if several were passed, call the
 * latest. A poll may come without a wake-up. Do not block, because the other children wait meanwhile.
 *
 * <p><b>What a set guarantees.</b> There is one poll at a time, and none after an outcome, an exception or {@link
 * #cancel}; each poll sees what the previous one wrote. Cancel never runs during a poll.
 *
 * @param <T> the type of the value
 */
@FunctionalInterface
public interface Pollable<T> {
    /**
     * Checks for the value.
     *
     * @param waker to be called when it is worth polling again
     * @return {@link Step#item}, {@link Step#failed} or {@link Step#pending()}; {@link Step#ended()} is for streams,
     *     and a failure here
     * @throws Exception if it failed; a set yields it as {@link Failed}
     */
    Step<T> poll(Waker waker) throws Exception;

    /**
     * Called when the value is not needed any more; at most once, and never after an outcome. Must not block and should
     * not throw.
     */
    default void cancel() {}

    /**
     * Returns a pollable for the value of a stage. Cancelling it cancels the stage's future.
     *
     * @param stage where the value comes from
     * @param <T> the type of the value
     * @return a pollable; the stage runs independently of being polled
     */
    static <T> Pollable<T> of(CompletionStage<T> stage) {
        return new StagePollable<>(stage);
    }

    /**
     * Returns a pollable for the result of a call on a new virtual thread. The call starts with the first poll;
     * cancelling interrupts it.
     *
     * @param callable what to call, once
     * @param <T> the type of the result
     * @return a pollable that has not started yet
     */
    static <T> Pollable<T> call(Callable<? extends T> callable) {
        return new Call<>(callable);
    }

    /**
     * Returns a pollable with a time limit, after which it is cancelled and fails with a {@link
     * java.util.concurrent.TimeoutException}. The time begins with the first poll. A value that is there when the time
     * is over still counts.
     *
     * @param limit how long to wait for the value
     * @return a pollable to use instead of this one
     */
    default Pollable<T> within(Duration limit) {
        return within(limit, Delays.system());
    }

    /**
     * Like {@link #within(Duration)}, with delays of your choice, such as those of an event loop: {@code
     * Delays.of(loop::after)}.
     *
     * @param limit how long to wait for the value
     * @param alarms calls when the time is over
     * @return a pollable to use instead of this one
     */
    default Pollable<T> within(Duration limit, Delays alarms) {
        return new Timed<>(this, limit, alarms);
    }

    /**
     * Returns the value as a future. Polls at once, and after each wake-up on the common pool. Cancelling the future
     * cancels this.
     *
     * @return a new future
     */
    default CompletableFuture<T> toFuture() {
        return toFuture(ForkJoinPool.commonPool());
    }

    /**
     * Returns the value as a future. Polls at once, and after each wake-up on the executor. Cancelling the future
     * cancels this.
     *
     * @param executor runs the polls, inline or on other threads
     * @return a new future
     */
    default CompletableFuture<T> toFuture(Executor executor) {
        return FutureDrive.start(this, executor);
    }

    /**
     * Returns a call that waits for the value. It parks, which is cheap on a virtual thread. An interrupt cancels this.
     *
     * @return to be called once
     */
    default Callable<T> toCallable() {
        return new AwaitingCall<>(this);
    }
}
