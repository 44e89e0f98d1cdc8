package io.millrace.task;

import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Adapts a stream to a publisher for one subscriber. */
final class StreamPublisher<T> implements Flow.Publisher<T> {
    private final PollableStream<T> stream;
    private final Executor executor;
    private final AtomicBoolean subscribed = new AtomicBoolean();

    StreamPublisher(PollableStream<T> stream, Executor executor) {
        this.stream = stream;
        this.executor = Objects.requireNonNull(executor, "executor");
    }

    @Override
    public void subscribe(Flow.Subscriber<? super T> subscriber) {
        Objects.requireNonNull(subscriber, "subscriber");
        if (subscribed.compareAndSet(false, true)) {
            Subscription<T> subscription = new Subscription<>(stream, executor, subscriber);
            subscriber.onSubscribe(subscription);
            subscription.drive();
        } else {
            subscriber.onSubscribe(new Refused());
            subscriber.onError(
                    new IllegalStateException("cannot subscribe: the stream has a subscriber, and has only one"));
        }
    }

    @Override
    public String toString() {
        return "publisher of " + stream;
    }

    /** The subscription of a second subscriber. */
    private static final class Refused implements Flow.Subscription {
        @Override
        public void request(long elements) {}

        @Override
        public void cancel() {}
    }

    /**
     * The demand, and the run that meets it. Only the run signals, so signals never overlap. {@link Drive} is RUNNING
     * during onSubscribe, so nothing is signalled before it has returned.
     */
    private static final class Subscription<T> extends Drive implements Flow.Subscription {
        private final Guarded<T> stream;
        private final AtomicLong demand = new AtomicLong();
        private volatile boolean cancelled;
        private volatile @Nullable IllegalArgumentException illegal;
        /**
         * Used by the run; null when it is over, so that a subscription that is kept does not keep its subscriber
         * alive.
         */
        private Flow.@Nullable Subscriber<? super T> subscriber;

        Subscription(PollableStream<T> stream, Executor executor, Flow.Subscriber<? super T> subscriber) {
            super(executor);
            this.stream = new Guarded<>(stream);
            this.subscriber = subscriber;
        }

        @Override
        public void request(long elements) {
            if (elements <= 0) {
                illegal = new IllegalArgumentException(
                        "at least 1 element must be requested, not " + elements + " (Reactive Streams rule 3.9)");
            } else {
                demand.accumulateAndGet(elements, (have, more) -> have + more < 0 ? Long.MAX_VALUE : have + more);
            }
            wake();
        }

        @Override
        public void cancel() {
            cancelled = true;
            wake();
        }

        @Override
        boolean step() {
            Flow.Subscriber<? super T> to = subscriber;
            if (to == null) {
                return true;
            }
            try {
                return signal(to);
            } catch (Throwable failure) {
                // A subscriber that throws violates rule 2.13 and counts as cancelled; the exception goes to the
                // executor.
                subscriber = null;
                stream.cancel();
                throw failure;
            }
        }

        private boolean signal(Flow.Subscriber<? super T> to) {
            while (!cancelled) {
                IllegalArgumentException wrong = illegal;
                if (wrong != null) {
                    return fail(to, wrong);
                }
                if (demand.get() == 0) {
                    return false;
                }
                switch (stream.poll(this)) {
                    case Step.Pending<T> pending -> {
                        return cancelled && end();
                    }
                    case Step.Ended<T> ended -> {
                        subscriber = null;
                        to.onComplete();
                        return true;
                    }
                    case Failed<T> failed -> {
                        return fail(to, failed.cause());
                    }
                    case Item<T>(T value) -> {
                        if (value == null) {
                            return fail(to, new NullPointerException("a publisher can't publish null"));
                        }
                        if (demand.get() != Long.MAX_VALUE) {
                            demand.decrementAndGet();
                        }
                        to.onNext(value);
                    }
                }
            }
            return end();
        }

        private boolean fail(Flow.Subscriber<? super T> to, Throwable cause) {
            end();
            to.onError(cause);
            return true;
        }

        private boolean end() {
            subscriber = null;
            stream.cancel();
            return true;
        }

        @Override
        void onRefused(RejectedExecutionException reason) {
            Flow.Subscriber<? super T> to = subscriber;
            if (to != null && !cancelled) {
                fail(to, reason);
            } else {
                end();
            }
        }
    }
}
