package io.millrace.task;

import java.util.concurrent.Flow;
import org.reactivestreams.tck.TestEnvironment;
import org.reactivestreams.tck.flow.FlowSubscriberWhiteboxVerification;

/** uni-3: what subscribes to a publisher for a set obeys the Reactive Streams rules, seen from inside. */
public class SubscriberTckTest extends FlowSubscriberWhiteboxVerification<Integer> {
    private static final long MILLIS = 300;
    private static final long SILENCE = 40;

    public SubscriberTckTest() {
        super(new TestEnvironment(MILLIS, SILENCE));
    }

    @Override
    protected Flow.Subscriber<Integer> createFlowSubscriber(WhiteboxSubscriberProbe<Integer> probe) {
        // The stream asks for as many as it has room for; the probe sees the same signals and may ask or cancel beside
        // it.
        PublisherStream<Integer> stream = new PublisherStream<>(subscriber -> {}, 1);
        return new Flow.Subscriber<>() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                stream.onSubscribe(subscription);
                probe.registerOnSubscribe(new SubscriberPuppet() {
                    @Override
                    public void triggerRequest(long elements) {
                        subscription.request(elements);
                    }

                    @Override
                    public void signalCancel() {
                        stream.cancel();
                    }
                });
            }

            @Override
            public void onNext(Integer element) {
                stream.onNext(element);
                probe.registerOnNext(element);
            }

            @Override
            public void onError(Throwable cause) {
                stream.onError(cause);
                probe.registerOnError(cause);
            }

            @Override
            public void onComplete() {
                stream.onComplete();
                probe.registerOnComplete();
            }
        };
    }

    @Override
    public Integer createElement(int element) {
        return element;
    }
}
