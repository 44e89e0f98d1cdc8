package io.millrace.task;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;

/**
 * One value to come, asked for by polling: the child of a {@link FuturesUnordered}.
 *
 * <p><b>To implement it</b>, look whether the value is there; if not, keep the waker, look once more, and return {@link Step#pending()}. Call
 * the waker, from any thread, when a poll is worth while; the latest that was passed is the one to call. A poll may come without a
 * wake-up. Do not block: the other children wait meanwhile.
 *
 * <p><b>What a set guarantees.</b> One poll at a time, never one after an outcome, after a throw or after {@link #cancel}; each sees what
 * the one before wrote. Cancel never runs beside a poll.
 *
 * @param <T> the value
 */
@FunctionalInterface
public interface Pollable<T> {
    /**
     * Looks for the value.
     *
     * @param waker to be called when it is worth polling again
     * @return {@link Step#item}, {@link Step#failed} or {@link Step#pending()}; {@link Step#ended()} is for streams, and a failure here
     * @throws Exception if it failed; a set yields it as {@link Failed}
     */
    Step<T> poll(Waker waker) throws Exception;

    /** Gives up: the value is not wanted any more. At most once, never after an outcome. Must not block and should not throw. */
    default void cancel() {}

    /**
     * The value of a stage. Cancelling cancels the stage's future.
     *
     * @param stage where the value comes from
     * @param <T> the value
     * @return not started by being polled: the stage runs already
     */
    static <T> Pollable<T> of(CompletionStage<T> stage) {
        return new StagePollable<>(stage);
    }

    /**
     * The result of a call, on a virtual thread of its own. It starts with the first poll; cancelling interrupts it.
     *
     * @param callable what to call, once
     * @param <T> the result
     * @return not started yet
     */
    static <T> Pollable<T> call(Callable<? extends T> callable) {
        return new Call<>(callable);
    }

    /**
     * This one, given up after a while: cancelled, and failed with a {@link java.util.concurrent.TimeoutException}. The time begins with the
     * first poll. A value that is there when the time is over still counts.
     *
     * @param limit how long to wait for the value
     * @return a pollable to use instead of this one
     */
    default Pollable<T> within(Duration limit) {
        return within(limit, Delays.system());
    }

    /**
     * Like {@link #within(Duration)}, with an alarm clock of your own.
     *
     * @param limit how long to wait for the value
     * @param alarms who calls when the time is over
     * @return a pollable to use instead of this one
     */
    default Pollable<T> within(Duration limit, Delays alarms) {
        return new Timed<>(this, limit, alarms);
    }

    /**
     * The value as a future. Polls at once, and after each wake-up on the common pool. Cancelling the future cancels this.
     *
     * @return a future of its own
     */
    default CompletableFuture<T> toFuture() {
        return toFuture(ForkJoinPool.commonPool());
    }

    /**
     * The value as a future. Polls at once, and after each wake-up by the executor. Cancelling the future cancels this.
     *
     * @param executor runs the polls; whether it runs them inline or elsewhere is its own affair
     * @return a future of its own
     */
    default CompletableFuture<T> toFuture(Executor executor) {
        return FutureDrive.start(this, executor);
    }

    /**
     * The value as a call that waits for it: parks, which is cheap on a virtual thread. An interrupt cancels this.
     *
     * @return to be called once
     */
    default Callable<T> toCallable() {
        return new AwaitingCall<>(this);
    }
}
