package io.millrace.task;

import java.util.Iterator;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.ForkJoinPool;

/**
 * Values that will be available over time and are asked for by polling: the child of a {@link StreamsUnordered}, and
 * the set itself.
 *
 * <p>The rules are those of {@link Pollable}, with these differences: after an item it may be polled again, and {@link
 * Step#ended()} is the last result. A {@link Failed} that is <em>returned</em> is one value among others, while an
 * exception that is <em>thrown</em> ends the stream.
 *
 * @param <T> the type of the values
 */
@FunctionalInterface
public interface PollableStream<T> {
    /**
     * Checks for the next value.
     *
     * @param waker to be called when it is worth polling again, if the answer is pending
     * @return an item, a failure, pending, or the end
     * @throws Exception if it failed and is over; a set yields it as {@link Failed}
     */
    Step<T> poll(Waker waker) throws Exception;

    /**
     * Called when no more values are needed; at most once, and never after the end. Must not block and should not
     * throw.
     */
    default void cancel() {}

    /**
     * Returns the elements of an iterator; for a Java stream, use {@code stream.iterator()}. An iterator that blocks
     * also blocks the consumer.
     *
     * @param iterator provides the elements
     * @param <T> the type of the elements
     * @return a stream that is never pending
     */
    static <T> PollableStream<T> of(Iterator<? extends T> iterator) {
        return waker -> iterator.hasNext() ? Step.item(iterator.next()) : Step.ended();
    }

    /**
     * Returns the elements of a publisher. Subscribes with the first poll and requests 32 elements in advance.
     * Cancelling cancels the subscription.
     *
     * @param publisher provides the elements
     * @param <T> the type of the elements
     * @return a stream that has not subscribed yet
     */
    static <T> PollableStream<T> of(Flow.Publisher<? extends T> publisher) {
        return of(publisher, PublisherStream.PREFETCH);
    }

    /**
     * Returns the elements of a publisher. Subscribes with the first poll. Cancelling cancels the subscription.
     *
     * @param publisher provides the elements
     * @param prefetch how many elements are requested in advance, at least 1
     * @param <T> the type of the elements
     * @return a stream that has not subscribed yet
     */
    static <T> PollableStream<T> of(Flow.Publisher<? extends T> publisher, int prefetch) {
        return new PublisherStream<>(publisher, prefetch);
    }

    /**
     * Returns a stream that yields failures as values and never fails, for consumers that would otherwise stop at the
     * first failure.
     *
     * @return a stream to be polled instead of this one
     */
    default PollableStream<Outcome<T>> outcomes() {
        return new Outcomes<>(this);
    }

    /**
     * Returns a publisher for one subscriber, driven by the common pool. The first failure is passed to {@code onError}
     * and cancels this; to continue after failures, use {@link #outcomes}.
     *
     * @return for one subscriber; a second one gets an {@link IllegalStateException} as error
     */
    default Flow.Publisher<T> toPublisher() {
        return toPublisher(ForkJoinPool.commonPool());
    }

    /**
     * Returns a publisher for one subscriber. Cancelling the subscription cancels this.
     *
     * @param executor polls and signals; may have one thread, or use the caller's
     * @return for one subscriber; a second one gets an {@link IllegalStateException} as error
     */
    default Flow.Publisher<T> toPublisher(Executor executor) {
        return new StreamPublisher<>(this, executor);
    }

    /**
     * Returns an iterator that waits. It parks, which is cheap on a virtual thread. If its thread is interrupted, it
     * throws a {@link java.util.concurrent.CancellationException} and leaves the interrupt status set.
     *
     * @return an iterator over what this stream yields from now on
     */
    default Iterator<Outcome<T>> toIterator() {
        return AwaitingIterator.over(this);
    }

    /**
     * Returns a source for an {@code io.millrace.poll.Poll}, which is readable while polling is worthwhile.
     *
     * @return a source, which becomes the consumer of this stream
     */
    default StreamSource<T> toSource() {
        return new StreamSource<>(this);
    }
}
