package io.millrace.examples.howto;

import io.millrace.net.ChildProcess;
import io.millrace.net.Io;
import io.millrace.net.SignalSource;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Timer;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;

/** Runs a command, passes on what it says, and ends it on Ctrl-C, or by force if it does not end within two seconds after that. */
public final class Supervisor {
    private static final long OUTPUT = 1;
    private static final long END = 2;
    private static final long SIGNAL = 3;
    private static final long TIME_IS_UP = 4;

    private Supervisor() {}

    /**
     * Runs until the command has ended.
     *
     * @param args the command
     * @throws IOException if it cannot be started
     */
    public static void main(String[] args) throws IOException {
        try (Poll poll = Poll.open();
                SignalSource signals = SignalSource.of("INT", "TERM");
                Timer<String> timer = Timer.create();
                ChildProcess child = ChildProcess.builder(args)
                        .stdin(ChildProcess.Stdio.DISCARD)
                        .stderr(ChildProcess.Stdio.INHERIT)
                        .start()) {
            poll.register(child.stdout(), OUTPUT, Interest.READABLE, Trigger.LEVEL);
            poll.register(child, END, Interest.READABLE, Trigger.LEVEL);
            poll.register(signals, SIGNAL, Interest.READABLE, Trigger.LEVEL);
            poll.register(timer, TIME_IS_UP, Interest.READABLE, Trigger.LEVEL);

            Events events = Events.withCapacity(16);
            ByteBuffer buffer = ByteBuffer.allocate(8192);
            ChildProcess.Exit exit = null;
            boolean moreOutput = true;
            while (exit == null || moreOutput) {
                poll.poll(events);
                while (events.advance()) {
                    switch ((int) events.token()) {
                        case (int) OUTPUT -> {
                            int count = child.stdout().tryRead(buffer.clear());
                            if (count > 0) {
                                System.out.write(buffer.array(), 0, count);
                            } else if (count == Io.EOF) {
                                moreOutput = false;
                                poll.deregister(child.stdout()); // or it would be reported for ever
                            }
                        }
                        case (int) END -> {
                            exit = child.poll();
                            poll.deregister(child);
                        }
                        case (int) SIGNAL -> {
                            String signal = signals.poll();
                            if (signal != null) {
                                child.kill(signal);
                                timer.set(Duration.ofSeconds(2), "KILL");
                            }
                        }
                        default -> {
                            String harder = timer.poll();
                            if (harder != null) {
                                child.kill(harder);
                            }
                        }
                    }
                }
            }
            System.out.println(exit);
        }
    }
}
