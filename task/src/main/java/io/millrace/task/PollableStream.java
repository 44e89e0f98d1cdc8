package io.millrace.task;

import java.util.Iterator;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.ForkJoinPool;

/**
 * Values to come, asked for by polling: the child of a {@link StreamsUnordered}; and what a set itself is.
 *
 * <p>The rules are those of {@link Pollable}, with these differences: after an item it may be polled again, {@link Step#ended()} is
 * its last word, and a {@link Failed} that is <em>returned</em> is one value among others, while one that is <em>thrown</em> ends the stream.
 *
 * @param <T> the values
 */
@FunctionalInterface
public interface PollableStream<T> {
    /**
     * Looks for the next value.
     *
     * @param waker to be called when it is worth polling again, if the answer is pending
     * @return an item, a failure, pending, or the end
     * @throws Exception if it failed and is over; a set yields it as {@link Failed}
     */
    Step<T> poll(Waker waker) throws Exception;

    /** Gives up: no more values are wanted. At most once, never after the end. Must not block and should not throw. */
    default void cancel() {}

    /**
     * The elements of an iterator; of a Java stream, by {@code stream.iterator()}. An iterator that blocks keeps the consumer waiting.
     *
     * @param iterator what to walk through
     * @param <T> the elements
     * @return never pending
     */
    static <T> PollableStream<T> of(Iterator<? extends T> iterator) {
        return waker -> iterator.hasNext() ? Step.item(iterator.next()) : Step.ended();
    }

    /**
     * What a publisher publishes. Subscribes with the first poll and asks for 32 elements ahead. Cancelling cancels the subscription.
     *
     * @param publisher where the elements come from
     * @param <T> the elements
     * @return not subscribed yet
     */
    static <T> PollableStream<T> of(Flow.Publisher<? extends T> publisher) {
        return of(publisher, PublisherStream.PREFETCH);
    }

    /**
     * What a publisher publishes. Subscribes with the first poll. Cancelling cancels the subscription.
     *
     * @param publisher where the elements come from
     * @param prefetch how many elements are asked for ahead, at least 1
     * @param <T> the elements
     * @return not subscribed yet
     */
    static <T> PollableStream<T> of(Flow.Publisher<? extends T> publisher, int prefetch) {
        return new PublisherStream<>(publisher, prefetch);
    }

    /**
     * The same with failures as values: a stream that never fails. For consumers that stop at the first failure and should not.
     *
     * @return to be polled instead of this one
     */
    default PollableStream<Outcome<T>> outcomes() {
        return new Outcomes<>(this);
    }

    /**
     * As a publisher for one subscriber, driven by the common pool. The first failure is its {@code onError} and cancels this; see
     * {@link #outcomes} for one that goes on.
     *
     * @return for one subscriber; a second one gets an {@link IllegalStateException} as error
     */
    default Flow.Publisher<T> toPublisher() {
        return toPublisher(ForkJoinPool.commonPool());
    }

    /**
     * As a publisher for one subscriber. Cancelling the subscription cancels this.
     *
     * @param executor polls and signals; may be one thread, the caller's included
     * @return for one subscriber; a second one gets an {@link IllegalStateException} as error
     */
    default Flow.Publisher<T> toPublisher(Executor executor) {
        return new StreamPublisher<>(this, executor);
    }

    /**
     * As an iterator that waits: parks, which is cheap on a virtual thread. If its thread is interrupted, it throws a
     * {@link java.util.concurrent.CancellationException} and leaves the interrupt flag set.
     *
     * @return walks through what this stream yields from now on
     */
    default Iterator<Outcome<T>> toIterator() {
        return AwaitingIterator.over(this);
    }

    /**
     * As a source for an {@code io.millrace.poll.Poll}: readable while polling is worth while.
     *
     * @return becomes the consumer of this stream
     */
    default StreamSource<T> toSource() {
        return new StreamSource<>(this);
    }
}
