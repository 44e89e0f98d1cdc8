package io.millrace.net;

import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Trigger;
import java.time.Duration;

/** Says which signals it gets, until USR1; then it lets go of them and waits to be ended by one. */
final class SignalChild {
    private SignalChild() {}

    public static void main(String[] args) {
        Events events = Events.withCapacity(4);
        try (Poll poll = Poll.builder().backend(args[0]).open()) {
            try (SignalSource signals = SignalSource.of("INT", "TERM", "SIGHUP", "USR1")) {
                poll.register(signals, 1, Interest.READABLE, Trigger.EDGE);
                System.out.println("listening");
                tell(poll, events, signals);
            }
            System.out.println("let go");
            poll.poll(events, Duration.ofSeconds(20));
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage());
        }
    }

    private static void tell(Poll poll, Events events, SignalSource signals) {
        for (String last = ""; !last.equals("USR1"); ) {
            if (poll.poll(events, Duration.ofSeconds(20)) == 0) {
                throw new AssertionError("no signal came");
            }
            for (String name = signals.poll(); name != null; name = signals.poll()) {
                System.out.println(name);
                last = name;
            }
        }
    }
}
