package io.millrace.poll;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * mio-22: the last sender sends and closes while the receiver receives. The end is not told before the message, is told after it,
 * and leaves the channel readable.
 */
@JCStressTest
@State
@Outcome(id = "[01], 3", expect = Expect.ACCEPTABLE, desc = "The message, then the end, and readable for ever.")
@Outcome(id = "7, .*", expect = Expect.FORBIDDEN, desc = "The end was told before the message.")
@Outcome(expect = Expect.FORBIDDEN, desc = "The message or the end was lost.")
public class LastSenderCloses {
    private final Channel<Integer> channel = Channel.bounded(2);
    private final Sender<Integer> sender = channel.sender();
    private int received;

    @Actor
    public void sender() {
        sender.send(1);
        sender.close();
    }

    @Actor
    public void receiver(II_Result result) {
        result.r1 = receive();
    }

    /** 1: the message; 0: nothing yet; 7: the end although the message is outstanding. */
    private int receive() {
        return switch (channel.receive()) {
            case Received.Item<Integer> item -> received += item.value();
            case Received.Empty<Integer> nothing -> 0;
            case Received.Disconnected<Integer> end -> received == 1 ? 0 : 7;
        };
    }

    @Arbiter
    public void afterwards(II_Result result) {
        if (received == 0) {
            receive();
        }
        int message = received;
        int end = channel.receive() instanceof Received.Disconnected ? 1 : 0;
        boolean readable = ((Registration) channel.handle()).readiness().isReadable();
        result.r2 = message + end + (readable ? 1 : 0);
    }
}
