package io.millrace.task;

import java.util.concurrent.Flow;
import org.reactivestreams.tck.TestEnvironment;
import org.reactivestreams.tck.flow.FlowSubscriberBlackboxVerification;

/** uni-3: what subscribes to a publisher for a set obeys the Reactive Streams rules, seen from outside. */
public class SubscriberBlackboxTckTest extends FlowSubscriberBlackboxVerification<Integer> {
    private static final long MILLIS = 300;
    private static final long SILENCE = 40;

    public SubscriberBlackboxTckTest() {
        super(new TestEnvironment(MILLIS, SILENCE));
    }

    @Override
    public Flow.Subscriber<Integer> createFlowSubscriber() {
        return new PublisherStream<>(subscriber -> {}, 4);
    }

    /** By taking an element or two, as a set would; what was asked for at first is asked for by itself. */
    @Override
    public void triggerFlowRequest(Flow.Subscriber<? super Integer> subscriber) {
        ((PublisherStream<?>) subscriber).poll(Waker.none());
        ((PublisherStream<?>) subscriber).poll(Waker.none());
    }

    @Override
    public Integer createElement(int element) {
        return element;
    }
}
