package io.millrace.poll;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * mio-21: one message is there and one is sent while the receiver takes one. Afterwards one is left and the channel is readable (C1);
 * when that is taken and a look finds nothing, it is not (C2).
 */
@JCStressTest
@State
@Outcome(id = "1, 1, 0", expect = Expect.ACCEPTABLE, desc = "Readable while it holds a message, and not after.")
@Outcome(id = "1, 0, .*", expect = Expect.FORBIDDEN, desc = "C1: a message waits and the channel is not readable.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A message was lost, or C2: an empty channel stays readable.")
public class SendAndReceive {
    private final Channel<Integer> channel = Channel.bounded(2);

    public SendAndReceive() {
        channel.send(1);
    }

    @Actor
    public void sender() {
        channel.send(2);
    }

    @Actor
    public void receiver(III_Result result) {
        Integer first = channel.poll();
        result.r1 = first == null ? 0 : first;
    }

    @Arbiter
    public void afterwards(III_Result result) {
        result.r2 = readable();
        Integer second = channel.poll();
        boolean allSeen = second != null && second == 2 && channel.poll() == null;
        result.r3 = allSeen ? readable() : 9;
    }

    private int readable() {
        return ((Registration) channel.handle()).readiness().isReadable() ? 1 : 0;
    }
}
