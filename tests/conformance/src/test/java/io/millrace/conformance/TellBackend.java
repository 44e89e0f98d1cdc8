package io.millrace.conformance;

import io.millrace.net.Net;
import io.millrace.net.Pipe;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Trigger;
import io.millrace.testkit.Bytes;
import java.io.IOException;
import java.time.Duration;

/** A program that opens a poll, waits for a byte with it, and prints the poll's report; run by {@link ChildJvm}. */
final class TellBackend {
    static final String DENY_EPOLL = "deny-epoll";
    static final String DENY_NANOSECONDS = "deny-nanoseconds";

    private TellBackend() {}

    public static void main(String... arguments) throws IOException {
        if (arguments.length > 0 && arguments[0].equals(DENY_EPOLL)) {
            EpollDenied.forThisThread();
        } else if (arguments.length > 0 && arguments[0].equals(DENY_NANOSECONDS)) {
            EpollDenied.nanosecondsForThisThread();
        }
        try (Poll poll = Poll.open();
                Pipe pipe = Net.of(poll).pipe()) {
            poll.register(pipe.source(), 1, Interest.READABLE, Trigger.EDGE);
            Bytes.write(pipe.sink(), 1);
            int found = poll.poll(Events.withCapacity(4), Duration.ofSeconds(10));
            System.out.println(poll.report() + "\nfound " + found);
        } catch (IllegalStateException | IllegalArgumentException e) {
            System.out.println(e);
        }
    }
}
