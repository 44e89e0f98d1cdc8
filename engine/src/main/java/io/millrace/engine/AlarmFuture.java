package io.millrace.engine;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A future that is completed by an alarm: what {@code after} of a loop and of a manager returns. */
final class AlarmFuture {
    private AlarmFuture() {}

    /**
     * Sets an alarm that completes a future. If the future is completed in another way, the alarm is cancelled; if the
     * owner of the alarm ends, the future is cancelled.
     *
     * @param owner named if it ends first
     * @param schedule sets the alarm
     * @param cancel cancels it
     * @return a new future
     */
    static CompletableFuture<@Nullable Void> of(
            Object owner, Function<AlarmCallback, AlarmKey> schedule, Consumer<AlarmKey> cancel) {
        CompletableFuture<@Nullable Void> future = new CompletableFuture<>();
        AlarmKey key = schedule.apply(fired -> {
            if (fired) {
                future.complete(null);
            } else {
                future.completeExceptionally(new CancellationException(owner + " has ended first"));
            }
        });
        var ignored = future.whenComplete((nothing, failure) -> {
            if (failure != null) {
                cancel.accept(key);
            }
        });
        return future;
    }
}
