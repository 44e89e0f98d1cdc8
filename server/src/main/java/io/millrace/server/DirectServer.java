package io.millrace.server;

import io.millrace.engine.Dispatch;
import io.millrace.engine.VirtualThreadReport;
import io.millrace.server.direct.SocketLink;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A TCP server in direct style: each connection has a virtual thread, which runs plain code that blocks.
 *
 * {@snippet :
 * try (DirectServer server = DirectServer.listen(7007, socket -> {
 *     for (String line = socket.readLine(1024); line != null; line = socket.readLine(1024)) {
 *         socket.write(line + "\n");
 *     }
 * })) {
 *     System.in.read();
 * }
 * }
 *
 * <p><b>What it guarantees.</b> A conversation runs once for each connection, and its end closes the connection. A
 * conversation that throws, a peer that vanishes and a peer that does not read affect no other. There are never more
 * conversations than {@link TcpServer.Builder#maxConnections} allows. Everything else is as for a {@link TcpServer}, over
 * which it is built: limits, timeouts, water marks, the graceful end.
 *
 * <p><b>Where conversations run.</b> If the JVM allows it, on the thread of the loop that serves the connection: a read
 * that has to wait parks, and when bytes arrive the conversation continues right there, without waking another thread.
 * Otherwise they run on the JDK's scheduler for virtual threads. {@link #threads} says which, and why; what a
 * conversation may do is the same. On a loop, one thing is different: a call that blocks the thread itself, such as
 * reading a file, blocks the loop, where the JDK's scheduler would start another thread meanwhile. {@link
 * io.millrace.engine.OffLoop} is for such calls, and the watchdog tells which conversation should have used it. A
 * conversation that computes for long blocks its loop as well, except that it gives way to others when it reads or
 * writes. Virtual threads that a conversation starts run on the JDK's scheduler.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 *
 * <h2>Portability</h2>
 * Works everywhere; as {@link TcpServer}. On loops that are not those of {@link io.millrace.engine.Reactors} or {@link
 * io.millrace.engine.EventLoop}, conversations run on the JDK's scheduler.
 */
public final class DirectServer implements Monitored, AutoCloseable {
    private final TcpServer server;
    private final boolean onLoops;

    private DirectServer(TcpServer server, boolean onLoops) {
        this.server = server;
        this.onLoops = onLoops;
    }

    /**
     * Starts a server with the defaults on a port of the loopback interface. It runs on the global manager, whose threads
     * are daemons: they do not keep the JVM alive when {@code main} returns.
     *
     * @param port the port, or 0 for any free one
     * @param conversation what to do with each connection
     * @return a listening server, which the caller must close
     * @throws IOException if it cannot listen there
     */
    public static DirectServer listen(int port, Conversation conversation) throws IOException {
        return start(
                TcpServer.builder().address(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)),
                conversation);
    }

    /**
     * Starts a server.
     *
     * @param settings of the server and its connections; their {@code dispatch} must be the default. Idle timeouts close
     *     a connection, and its conversation gets a {@link java.net.SocketTimeoutException}
     * @param conversation what to do with each connection
     * @return a listening server, which the caller must close
     * @throws IOException if it cannot listen there, for example because the port is taken
     * @throws IllegalArgumentException if another dispatch was set
     */
    public static DirectServer start(TcpServer.Builder settings, Conversation conversation) throws IOException {
        Objects.requireNonNull(conversation, "conversation");
        if (settings.settings.dispatch != Dispatch.LOOP) {
            throw new IllegalArgumentException("cannot start a direct server with dispatch "
                    + settings.settings.dispatch + ": its conversations have threads of their own; leave it out, and"
                    + " use loopThreads(false) to keep them off the loops");
        }
        boolean onLoops = settings.settings.loopThreads;
        SocketLink.Talk talk = link -> conversation.talk(new DirectSocket(link));
        return new DirectServer(
                settings.startConversing(connection -> new SocketLink(connection, onLoops, talk)), onLoops);
    }

    /**
     * Shuts down gracefully: stops accepting, and lets conversations end; {@link DirectSocket#isShuttingDown} tells them.
     * Those that are left at the deadline are interrupted, their connections are closed, and they are named in the
     * result. How long this takes: as {@link TcpServer#shutdown}. Called by a conversation of this server, it returns at
     * once, and the rest happens in the background.
     *
     * @param atMost how long conversations may take
     * @return what was cut off, and what was left
     */
    public ShutdownResult shutdown(Duration atMost) {
        return server.shutdown(atMost);
    }

    /** Shuts down gracefully within ten seconds: see {@link #shutdown}. Whatever has not ended by then is logged. */
    @Override
    public void close() {
        server.close();
    }

    /**
     * Returns where conversations run, and why.
     *
     * @return what this JVM and the settings allow
     */
    public VirtualThreadReport threads() {
        return onLoops ? VirtualThreadReport.probe() : new VirtualThreadReport(false, "loopThreads(false) was set");
    }

    /**
     * Returns the server underneath.
     *
     * @return for its counts and its connections
     */
    public TcpServer server() {
        return server;
    }

    /**
     * Returns the address on which the server listens.
     *
     * @return the address, with the port that the system chose if 0 was requested; for a Unix socket, see {@link
     *     TcpServer#address}
     */
    public InetSocketAddress address() {
        return server.address();
    }

    // ---- Observing ----

    @Override
    public ServerMetrics metrics() {
        return server.metrics();
    }

    @Override
    public String dump() {
        return server.dump();
    }

    @Override
    public List<ConnectionSnapshot> connections() {
        return server.connections();
    }

    @Override
    public Optional<ConnectionSnapshot> connection(long id) {
        return server.connection(id);
    }

    @Override
    public boolean isOpen() {
        return server.isOpen();
    }

    @Override
    public List<String> remaining() {
        return server.remaining();
    }

    @Override
    public ServerContext context() {
        return server.context();
    }

    @Override
    public String toString() {
        return "direct " + server;
    }
}
