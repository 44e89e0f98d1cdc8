import org.jspecify.annotations.NullMarked;

/**
 * Sources that the kernel watches: sockets, pipes, descriptors, files, signals and processes, made for one of two families by {@link io.millrace.net.Net}.
 *
 * <p>To follow a file, one waits for its changes beside Ctrl-C:
 *
 * {@snippet :
 * try (Poll poll = Poll.open();
 *         SignalSource signals = SignalSource.of("INT");
 *         FileWatch watch = FileWatch.open();
 *         FileSource file = FileSource.open(path)) {
 *     watch.watch(path);
 *     poll.register(signals, 1, Interest.READABLE, Trigger.LEVEL);
 *     poll.register(watch, 2, Interest.READABLE, Trigger.LEVEL);
 *     long position = print(file, 0); // after the watch has begun: nothing is missed between
 *
 *     Events events = Events.withCapacity(16);
 *     while (signals.poll() == null) {
 *         poll.poll(events);
 *         while (watch.poll()
 *                 != null) { // several changes may be one event, so only the file itself tells what is new
 *             position = print(file, position);
 *         }
 *     }
 * }
 * }
 */
@NullMarked
@SuppressWarnings("module")
module io.millrace.net {
    requires transitive io.millrace.poll;
    requires io.millrace.sys;
    requires jdk.net;
    requires static org.jspecify;

    exports io.millrace.net;
    exports io.millrace.net.memory to
            io.millrace.testkit;
}
