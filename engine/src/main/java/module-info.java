import org.jspecify.annotations.NullMarked;

/**
 * Reactors under two faces, {@link io.millrace.engine.EventManager} and {@link io.millrace.engine.EventLoop}, and what belongs to them.
 *
 * <p>Handlers for a socket, a channel and an alarm, on a thread of yours:
 *
 * {@snippet :
 * try (EventLoop loop = EventLoop.builder().workers(1).open();
 *         Channel<String> channel = Channel.unbounded();
 *         TcpListener listener =
 *                 TcpListener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
 *     loop.register(listener, 1, Interest.READABLE, (on, token, ready) -> {
 *         while (true) { // an edge: accept until there is nobody left
 *             try (TcpStream stream = listener.accept()) {
 *                 if (stream == null) {
 *                     return;
 *                 }
 *                 stream.tryWrite(ByteBuffer.wrap("hello\n".getBytes(UTF_8)));
 *             }
 *         }
 *     });
 *     loop.register(channel, 2, Interest.READABLE, (on, token, ready) -> {
 *         for (String message = channel.poll(); message != null; message = channel.poll()) {
 *             System.out.println(message);
 *         }
 *     });
 *     loop.schedule(Duration.ofSeconds(1), fired -> loop.stop());
 *
 *     System.out.println("listening on " + listener.localAddress().getPort());
 *     Thread.ofVirtual().start(() -> channel.send("hello from another thread"));
 *     loop.run(); // on this thread, until stop
 * }
 * }
 */
@NullMarked
@SuppressWarnings("module")
module io.millrace.engine {
    requires transitive io.millrace.net;
    requires transitive io.millrace.poll;
    requires io.millrace.sys;
    requires org.jctools.core.jdk11;
    requires static jdk.jfr;
    requires static transitive org.jspecify;

    exports io.millrace.engine;
    exports io.millrace.engine.pool;
    exports io.millrace.engine.internal to
            io.millrace.server;
    exports io.millrace.engine.recorder to
            io.millrace.server;
    exports io.millrace.engine.transport to
            io.millrace.server,
            io.millrace.netty,
            io.millrace.testkit;
    exports io.millrace.engine.vthread to
            io.millrace.server,
            io.millrace.testkit;
}
