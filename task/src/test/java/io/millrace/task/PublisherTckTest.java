package io.millrace.task;

import java.util.concurrent.Flow;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.LongStream;
import org.reactivestreams.tck.TestEnvironment;
import org.reactivestreams.tck.flow.FlowPublisherVerification;

/** uni-3, uni-4: a set as a {@link Flow.Publisher} obeys the Reactive Streams rules. Run by TestNG, within the same build. */
public class PublisherTckTest extends FlowPublisherVerification<Long> {
    private static final long MILLIS = 300;
    /** How long it is watched that nothing happens. */
    private static final long SILENCE = 40;

    public PublisherTckTest() {
        super(new TestEnvironment(MILLIS, SILENCE), MILLIS);
    }

    @Override
    public Flow.Publisher<Long> createFlowPublisher(long elements) {
        StreamsUnordered<Long> set = StreamsUnordered.create();
        set.add(LongStream.range(0, elements / 2).iterator());
        set.add(LongStream.range(elements / 2, elements).iterator());
        return set.toPublisher(ForkJoinPool.commonPool());
    }

    @Override
    public Flow.Publisher<Long> createFailedFlowPublisher() {
        Flow.Publisher<Long> taken = FuturesUnordered.<Long>create().toPublisher();
        taken.subscribe(new NoSubscriber());
        return taken;
    }

    /** There are sets of any size; this bounds the run. */
    @Override
    public long maxElementsFromPublisher() {
        return 1_000_000;
    }

    private static final class NoSubscriber implements Flow.Subscriber<Long> {
        @Override
        public void onSubscribe(Flow.Subscription subscription) {}

        @Override
        public void onNext(Long item) {}

        @Override
        public void onError(Throwable failure) {}

        @Override
        public void onComplete() {}
    }
}
