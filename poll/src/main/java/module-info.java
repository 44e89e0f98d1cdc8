import org.jspecify.annotations.NullMarked;

/**
 * One place to wait: {@link io.millrace.poll.Poll} and what registers with it.
 *
 * <p>A loop that you write yourself: register sources, and wait for them together.
 *
 * {@snippet :
 * try (Poll poll = Poll.open();
 *         Timer<String> timer = Timer.withTick(Duration.ofMillis(10));
 *         Channel<String> channel = Channel.unbounded();
 *         TcpListener listener =
 *                 TcpListener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
 *     poll.register(timer, 1, Interest.READABLE, Trigger.EDGE);
 *     poll.register(channel, 2, Interest.READABLE, Trigger.LEVEL);
 *     poll.register(listener, 3, Interest.READABLE, Trigger.LEVEL);
 *
 *     timer.set(Duration.ofMillis(200), "a timeout");
 *     Thread.ofVirtual().start(() -> channel.send("hello from another thread"));
 *
 *     Events events = Events.withCapacity(1024);
 *     while (poll.poll(events, Duration.ofSeconds(1)) > 0) {
 *         while (events.advance()) { // the cursor; `for (Event event : events)` works too
 *             switch ((int) events.token()) {
 *                 case 1 -> System.out.println(timer.poll());
 *                 case 2 -> System.out.println(channel.poll());
 *                 default -> {
 *                     try (TcpStream stream = listener.accept()) {
 *                         System.out.println("connected: " + stream);
 *                     }
 *                 }
 *             }
 *         }
 *     }
 * }
 * }
 */
@NullMarked
@SuppressWarnings("module")
module io.millrace.poll {
    requires io.millrace.sys;
    requires org.jctools.core.jdk11;
    requires static transitive org.jspecify;

    exports io.millrace.poll;
    exports io.millrace.poll.internal to
            io.millrace.net,
            io.millrace.engine,
            io.millrace.server,
            io.millrace.netty;
}
