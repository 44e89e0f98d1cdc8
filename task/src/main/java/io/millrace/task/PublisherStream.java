package io.millrace.task;

import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** Adapts a publisher to a stream: the subscriber puts elements into a queue, which is bounded by its own demand. */
final class PublisherStream<T> implements PollableStream<T>, Flow.Subscriber<T> {
    static final int PREFETCH = 32;

    private final Flow.Publisher<? extends T> publisher;
    private final int prefetch;
    private final Queue<T> queue = new ConcurrentLinkedQueue<>();
    private volatile Flow.@Nullable Subscription subscription;
    private volatile @Nullable Waker waker;
    private volatile boolean done;
    private volatile boolean cancelled;
    /** Written before {@link #done}. */
    private @Nullable Throwable failure;

    // Used by the consumer only.
    private boolean subscribed;
    private boolean over;
    private int taken;

    PublisherStream(Flow.Publisher<? extends T> publisher, int prefetch) {
        if (prefetch < 1) {
            throw new IllegalArgumentException("at least 1 element must be asked for ahead, not " + prefetch);
        }
        this.publisher = Objects.requireNonNull(publisher, "publisher");
        this.prefetch = prefetch;
    }

    // ---- The consumer

    @Override
    public Step<T> poll(Waker latest) {
        if (over) {
            return Step.ended();
        }
        T element = queue.poll();
        if (element == null) {
            // Set before the second check; the publisher's thread reads the waker after each change.
            waker = latest;
            if (!subscribed) {
                subscribed = true;
                publisher.subscribe(this);
            }
            // Read before the queue: nothing is added after it is set.
            boolean wasDone = done;
            element = queue.poll();
            if (element == null) {
                return wasDone ? end() : Step.pending();
            }
        }
        replenish();
        return Step.item(element);
    }

    /** Reports a failure once, and then the end. */
    private Step<T> end() {
        Throwable cause = failure;
        failure = null;
        over = cause == null;
        return cause == null ? Step.ended() : Step.failed(cause);
    }

    private void replenish() {
        int batch = (prefetch + 1) / 2;
        if (++taken >= batch && !done) {
            taken = 0;
            Flow.Subscription from = subscription;
            if (from != null) {
                from.request(batch);
            }
        }
    }

    @Override
    public void cancel() {
        cancelled = true;
        waker = null;
        Flow.Subscription from = subscription;
        if (from != null) {
            from.cancel();
        }
    }

    // ---- The publisher's thread

    @Override
    public void onSubscribe(Flow.Subscription from) {
        Objects.requireNonNull(from, "subscription");
        if (subscription != null) {
            from.cancel(); // rule 2.5
            return;
        }
        subscription = from;
        if (cancelled) {
            from.cancel();
        } else {
            from.request(prefetch);
        }
    }

    @Override
    public void onNext(T element) {
        queue.add(Objects.requireNonNull(element, "element"));
        wakeUp();
    }

    @Override
    public void onError(Throwable cause) {
        failure = Objects.requireNonNull(cause, "cause");
        done = true;
        wakeUp();
    }

    @Override
    public void onComplete() {
        done = true;
        wakeUp();
    }

    private void wakeUp() {
        Waker latest = waker;
        if (latest != null) {
            latest.wake();
        }
    }

    @Override
    public String toString() {
        return "stream of " + publisher;
    }
}
