package io.millrace.task;

import java.util.concurrent.Flow;
import java.util.stream.LongStream;
import org.reactivestreams.tck.TestEnvironment;
import org.reactivestreams.tck.flow.FlowPublisherVerification;

/** uni-4: the same rules with an executor that runs everything inline, where recursion must be bounded. */
public class InlinePublisherTckTest extends FlowPublisherVerification<Long> {
    private static final long MILLIS = 300;
    private static final long SILENCE = 40;

    public InlinePublisherTckTest() {
        super(new TestEnvironment(MILLIS, SILENCE), MILLIS);
    }

    @Override
    public Flow.Publisher<Long> createFlowPublisher(long elements) {
        return PollableStream.<Long>of(LongStream.range(0, elements).iterator()).toPublisher(Runnable::run);
    }

    @Override
    public Flow.Publisher<Long> createFailedFlowPublisher() {
        return null; // covered by PublisherTckTest
    }
}
