package io.millrace.examples.howto;

import io.millrace.net.FileSource;
import io.millrace.net.FileWatch;
import io.millrace.net.SignalSource;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** Prints what is appended to a file, as {@code tail -f} does, until Ctrl-C. */
public final class TailFile {
    private TailFile() {}

    /**
     * Runs until Ctrl-C.
     *
     * @param args the file, which exists
     * @throws IOException if it cannot be read
     */
    public static void main(String[] args) throws IOException {
        Path path = Path.of(args[0]);
        try (Poll poll = Poll.open();
                SignalSource signals = SignalSource.of("INT");
                FileWatch watch = FileWatch.open();
                FileSource file = FileSource.open(path)) {
            watch.watch(path);
            poll.register(signals, 1, Interest.READABLE, Trigger.LEVEL);
            poll.register(watch, 2, Interest.READABLE, Trigger.LEVEL);
            long position = print(file, 0); // after the watch has begun: nothing is missed between

            Events events = Events.withCapacity(16);
            while (signals.poll() == null) {
                poll.poll(events);
                while (watch.poll()
                        != null) { // several changes may be one event, so only the file itself tells what is new
                    position = print(file, position);
                }
            }
        }
    }

    /** Prints what is behind a position, and returns where that ends. The file itself is not registered: it is always ready. */
    private static long print(FileSource file, long from) throws IOException {
        long position = from;
        ByteBuffer buffer = ByteBuffer.allocate(8192);
        for (int count = file.tryRead(buffer, position); count > 0; count = file.tryRead(buffer.clear(), position)) {
            System.out.write(buffer.array(), 0, count);
            position += count;
        }
        System.out.flush();
        return position;
    }
}
