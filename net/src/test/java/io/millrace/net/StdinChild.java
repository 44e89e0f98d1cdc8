package io.millrace.net;

import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Trigger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/** Reads its standard input to the end through a poll on the named backend, and says what it saw. */
final class StdinChild {
    private StdinChild() {}

    public static void main(String[] args) throws Exception {
        int flags = ProcFs.flags(0);
        try (Poll poll = Poll.builder().backend(args[0]).open();
                FdSource stdin = FdSource.stdin()) {
            // FdSource of fd 0, a pipe, by …
            System.out.println(List.of(stdin.toString().split(", ", -1)).get(1));
            poll.register(stdin, 1, Interest.READABLE, Trigger.LEVEL);
            Events events = Events.withCapacity(4);
            ByteBuffer into = ByteBuffer.allocate(64);
            for (; ; ) {
                if (poll.poll(events, Duration.ofSeconds(20)) == 0) {
                    throw new AssertionError("nothing came");
                }
                int read = stdin.tryRead(into.clear());
                if (read == Io.EOF) {
                    break;
                }
                if (read > 0) {
                    String text = StandardCharsets.US_ASCII.decode(into.flip()).toString();
                    System.out.println("read " + read + ": " + text.strip());
                }
            }
        }
        System.out.println(ProcFs.flags(0) == flags ? "end, flags as they were" : "the flags were changed");
    }
}
