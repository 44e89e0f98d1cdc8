package io.millrace.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.net.TcpStream;
import io.millrace.net.memory.MemoryStreams;
import io.millrace.net.memory.MemoryWire;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.HandlerFactory;
import io.millrace.server.ServerContext;
import io.millrace.server.TcpServer;
import io.millrace.server.internal.ServerAccess;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A connection of a server without a socket, seen from the peer's side: for tests of a {@link ConnectionHandler}.
 *
 * {@snippet :
 * try (TestConnection peer = TestConnection.open(Framing.lines(80).frames(new Greeter()))) {
 *   peer.receiveInPieces("Ann\nBob\n", 3);
 *   assertEquals("hello Ann\nhello Bob\n", peer.sentText());
 * }
 * }
 *
 * <p><b>What it guarantees.</b> The connection behaves like a real one, because it is one: only the socket below it, the loop and the clock are simulated. Nothing happens by itself. Each
 * method here has the loop run until it is idle, so when it returns, the handler has been called for everything. Time passes in {@link #advance} only.
 *
 * <p><b>Threads.</b> One thread calls the methods of this class, and all callbacks run on it, whatever the {@link io.millrace.engine.Dispatch} of the settings; with a pool or virtual threads they run
 * as tasks of their own, off the loop. So each run has the same order. The {@link #connection} itself may be used from any thread; what other threads do takes effect in the next call here.
 *
 * <p><b>What it never does.</b> It opens no socket and starts no thread. It never merges two pieces that were received apart, and the system below takes everything until {@link #peerStopsReading}. A real connection
 * does neither of the two reliably: test your handler with pieces of all sizes.
 */
public final class TestConnection implements AutoCloseable {
    private static final int SERVER_PORT = 7007;
    private static final int FIRST_PORT = 50_000;

    private final Host host;
    private final MemoryWire wire = new MemoryWire();
    private final @Nullable Connection connection;

    /** What the connections of one server have in common. */
    private record Host(SimulatedLoop loop, ServerAccess.Hosted server, AtomicInteger ports) {}

    private TestConnection(Host host, InetSocketAddress from) {
        this.host = host;
        InetSocketAddress local = new InetSocketAddress(InetAddress.getLoopbackAddress(), SERVER_PORT);
        TcpStream stream = MemoryStreams.open(wire, local, from);
        host.loop.announce(stream, wire);
        this.connection = host.server.accept(stream);
        host.loop.runUntilIdle();
        host.loop.announced(stream);
    }

    // ---- Opening ----

    /**
     * Opens a connection of a server with the default settings.
     *
     * @param handler the handler to test
     * @return a connection whose {@code onConnect} has returned
     */
    public static TestConnection open(ConnectionHandler handler) {
        return open(TcpServer.builder(), handler);
    }

    /**
     * Opens a connection of a server with the default settings.
     *
     * @param factory makes the handler to test
     * @return a connection whose {@code onConnect} has returned
     */
    public static TestConnection open(HandlerFactory factory) {
        return open(TcpServer.builder(), factory);
    }

    /**
     * Opens a connection of a server.
     *
     * @param settings the server's; its address, manager and reactors are ignored
     * @param handler the handler to test
     * @return a connection whose {@code onConnect} has returned
     */
    public static TestConnection open(TcpServer.Builder settings, ConnectionHandler handler) {
        SimulatedLoop loop = new SimulatedLoop();
        return first(loop, ServerAccess.get().host(settings, handler, loop, loop.workers()));
    }

    /**
     * Opens a connection of a server.
     *
     * @param settings the server's; its address, manager and reactors are ignored
     * @param factory makes the handler to test
     * @return a connection whose {@code onConnect} has returned
     */
    public static TestConnection open(TcpServer.Builder settings, HandlerFactory factory) {
        SimulatedLoop loop = new SimulatedLoop();
        return first(loop, ServerAccess.get().hostEach(settings, factory, loop, loop.workers()));
    }

    private static TestConnection first(SimulatedLoop loop, ServerAccess.Hosted server) {
        Host host = new Host(loop, server, new AtomicInteger(FIRST_PORT));
        return new TestConnection(host, nextPeer(host));
    }

    private static InetSocketAddress nextPeer(Host host) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), host.ports.getAndIncrement());
    }

    /**
     * Opens another connection of the same server, with the same handler, loop and clock: for broadcasts and limits.
     *
     * @return a connection whose {@code onConnect} has returned, or that was turned away
     */
    public TestConnection openAnother() {
        return openAnother(nextPeer(host));
    }

    /**
     * Opens another connection of the same server, from a given address.
     *
     * @param from the peer's address
     * @return a connection whose {@code onConnect} has returned, or that was turned away
     */
    public TestConnection openAnother(InetSocketAddress from) {
        return new TestConnection(host, Objects.requireNonNull(from, "from"));
    }

    // ---- What the peer does ----

    /**
     * The peer sends bytes, which arrive in one piece, or in several if they are more than the server's buffer holds. They wait while the connection is not read.
     *
     * @param bytes copied
     */
    public void receive(byte... bytes) {
        wire.send(bytes);
        look();
    }

    /**
     * The peer sends text: see {@link #receive(byte...)}.
     *
     * @param text sent as UTF-8
     */
    public void receive(String text) {
        receive(text.getBytes(UTF_8));
    }

    /**
     * The peer sends bytes, which arrive in pieces.
     *
     * @param bytes all of them
     * @param size how many bytes each piece has; the last one may have fewer
     */
    public void receiveInPieces(byte[] bytes, int size) {
        if (size < 1) {
            throw new IllegalArgumentException("a piece has at least 1 byte, not " + size);
        }
        for (int at = 0; at < bytes.length; at += size) {
            receive(Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + size)));
        }
    }

    /**
     * The peer sends text, which arrives in pieces.
     *
     * @param text sent as UTF-8
     * @param size how many bytes each piece has; the last one may have fewer
     */
    public void receiveInPieces(String text, int size) {
        receiveInPieces(text.getBytes(UTF_8), size);
    }

    /**
     * Has a fresh connection receive bytes in two pieces, for each place where they can be split; then in one piece, and byte by byte. The handler must do the same each time.
     *
     * @param opener opens a connection, which is closed afterwards
     * @param bytes what each receives
     * @param check looks at what it has led to
     * @throws AssertionError if the check fails, with the split for which it did
     */
    public static void receiveAtEverySplit(
            Supplier<TestConnection> opener, byte[] bytes, Consumer<TestConnection> check) {
        for (int size = 1; size <= bytes.length; size++) {
            int first = size;
            with(opener, "split after byte " + first + " of " + bytes.length, check, peer -> {
                peer.receive(Arrays.copyOf(bytes, first));
                peer.receive(Arrays.copyOfRange(bytes, first, bytes.length));
            });
        }
        with(opener, "received byte by byte", check, peer -> peer.receiveInPieces(bytes, 1));
    }

    private static void with(
            Supplier<TestConnection> opener,
            String how,
            Consumer<TestConnection> check,
            Consumer<TestConnection> received) {
        try (TestConnection peer = opener.get()) {
            received.accept(peer);
            check.accept(peer);
        } catch (AssertionError e) {
            throw new AssertionError(how + ": " + e.getMessage(), e);
        }
    }

    /** The peer sends no more: the handler's {@code onEndOfInput} is called when everything before was read. */
    public void endOfInput() {
        wire.endInput();
        look();
    }

    /** The peer breaks the connection, for example because its process was killed: what was not read is lost, and {@code onError} and {@code onDisconnect} are called. */
    public void reset() {
        wire.reset();
        look();
    }

    /** The peer reads no more, so nothing more is sent: bytes wait in the connection. */
    public void peerStopsReading() {
        host.loop.runUntilIdle();
        wire.stopReading();
    }

    /**
     * The peer reads some bytes, after {@link #peerStopsReading}. So a write can be taken in part.
     *
     * @param count how many bytes more
     */
    public void peerReads(long count) {
        if (count < 0) {
            throw new IllegalArgumentException("a peer cannot read " + count + " bytes");
        }
        wire.read(count);
        look();
    }

    /** The peer reads everything, as it does at first. */
    public void peerReadsAll() {
        peerReads(Long.MAX_VALUE);
    }

    private void look() {
        host.loop.poke(wire);
        host.loop.runUntilIdle();
    }

    // ---- Time ----

    /**
     * Lets time pass. Timeouts fire in their order, each at its time.
     *
     * @param by how long
     */
    public void advance(Duration by) {
        if (by.isNegative()) {
            throw new IllegalArgumentException("time does not pass backwards: " + by);
        }
        host.loop.advance(by);
    }

    /** Runs everything that is to be done now, such as what another thread has sent on {@link #connection}. */
    public void runUntilIdle() {
        host.loop.runUntilIdle();
    }

    // ---- Looking at it ----

    /**
     * Returns the connection as its handler sees it.
     *
     * @return the same object that callbacks get
     * @throws IllegalStateException if the server has turned it away
     */
    public Connection connection() {
        if (connection == null) {
            throw new IllegalStateException("there is no connection: the server has turned it away; see onError");
        }
        return connection;
    }

    /**
     * Returns the server's connections.
     *
     * @return to send, broadcast and close by id
     */
    public ServerContext server() {
        return host.server.context();
    }

    /**
     * Returns what was sent to the peer.
     *
     * @return all bytes that the peer has read since the last {@link #takeSent}
     */
    public byte[] sent() {
        host.loop.runUntilIdle();
        return wire.sent();
    }

    /**
     * Returns what was sent to the peer, as text.
     *
     * @return {@link #sent} as UTF-8
     */
    public String sentText() {
        return new String(sent(), UTF_8);
    }

    /**
     * Takes what was sent to the peer, so that the next call returns only what follows.
     *
     * @return all bytes since the last call
     */
    public byte[] takeSent() {
        host.loop.runUntilIdle();
        return wire.takeSent();
    }

    /**
     * Takes what was sent to the peer, as text.
     *
     * @return {@link #takeSent} as UTF-8
     */
    public String takeSentText() {
        return new String(takeSent(), UTF_8);
    }

    /**
     * Whether the peer was told that nothing more comes: by {@link Connection#closeOutput}, or because the connection was closed. A peer that knows this has got everything that was sent; one
     * that has not sees a reset instead: see {@link #wasReset}.
     *
     * @return true from then on
     */
    public boolean hasOutputEnded() {
        host.loop.runUntilIdle();
        return wire.hasOutputEnded();
    }

    /**
     * Whether the peer saw a reset: by {@link Connection#reset}, or because the connection ended with bytes unsent or unread. What the peer itself does with {@link #reset} does not count.
     *
     * @return true from then on
     */
    public boolean wasReset() {
        host.loop.runUntilIdle();
        return wire.wasReset();
    }

    /**
     * Whether the connection has ended: it was turned away, closed, reset or timed out. As over a socket, one that is closed while its peer sends waits for the peer's end for up to a second: {@link #hasOutputEnded} is true
     * then, and this after {@link #endOfInput} or {@link #advance}.
     *
     * @return true from then on
     */
    public boolean isClosed() {
        host.loop.runUntilIdle();
        return wire.isClosed();
    }

    /** Aborts the connection, unless it has ended; {@code onDisconnect} is called. Others of the same server stay open. Idempotent. */
    @Override
    public void close() {
        if (connection != null) {
            connection.abort();
        }
        host.loop.runUntilIdle();
    }

    @Override
    public String toString() {
        return connection == null ? "test connection that was turned away" : "test of " + connection;
    }
}
