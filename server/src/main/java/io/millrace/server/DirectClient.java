package io.millrace.server;

import io.millrace.net.UnixAddress;
import io.millrace.server.connection.PerConnection;
import io.millrace.server.direct.SocketLink;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Function;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/**
 * Opens TCP connections in direct style: {@link #connect} waits, and what it returns is read and written by the calling
 * thread, or any other.
 *
 * {@snippet :
 * try (DirectClient client = DirectClient.open();
 *         DirectSocket socket = client.connect("localhost", 7007)) {
 *     socket.write("hello\n");
 *     System.out.println(socket.readLine(1024));
 * }
 * }
 *
 * <p>In a conversation of a {@link DirectServer} that runs on a loop of the same manager, a connection stays on that
 * loop, so that both are served by one thread.
 *
 * <p><b>Threads.</b> Any thread may call any method; but a loop's own must not wait, in a callback, so it is refused:
 * connect there with a {@link TcpClient}.
 */
public final class DirectClient implements Monitored, AutoCloseable {
    private final TcpClient client;

    private DirectClient(TcpClient client) {
        this.client = client;
    }

    /**
     * Opens a client with the defaults.
     *
     * @return a client, which the caller must close
     */
    public static DirectClient open() {
        return open(TcpClient.builder());
    }

    /**
     * Opens a client.
     *
     * @param settings of the client and its connections; their {@code dispatch} is not used
     * @return a client, which the caller must close
     */
    public static DirectClient open(TcpClient.Builder settings) {
        return new DirectClient(settings.open());
    }

    /**
     * Connects to a host, by its name: see {@link TcpClient#connect(String, int, ConnectionHandler)}.
     *
     * @param host a name, or an address as text
     * @param port the port
     * @return an open connection, which the caller must close
     * @throws IOException if it cannot connect in time: the exceptions of {@link TcpClient#connect(String, int,
     *     ConnectionHandler)}; or {@link InterruptedIOException} if the thread was interrupted
     * @throws IllegalStateException on the thread of one of its loops, in a callback
     */
    public DirectSocket connect(String host, int port) throws IOException {
        return connect(InetSocketAddress.createUnresolved(host, port));
    }

    /**
     * Connects to an address.
     *
     * @param address an address; if it is unresolved, its host's name is resolved
     * @return an open connection, which the caller must close
     * @throws IOException as for a host's name
     */
    public DirectSocket connect(InetSocketAddress address) throws IOException {
        return connect(address, handler -> client.connect(address, handler));
    }

    /**
     * Connects to a Unix socket of this machine.
     *
     * @param address where a server listens
     * @return an open connection, which the caller must close
     * @throws IOException if nothing listens there; or {@link InterruptedIOException} if the thread was interrupted
     */
    public DirectSocket connect(UnixAddress address) throws IOException {
        return connect(address, handler -> client.connect(address, handler));
    }

    private DirectSocket connect(Object address, Function<ConnectionHandler, CompletableFuture<Connection>> attempt)
            throws IOException {
        if (client.isOnLoop()) { // it might wait for ever, without a time limit
            throw new IllegalStateException(
                    "cannot wait for a connection to " + address
                            + " on the thread of a loop, which has to go on; connect with a TcpClient there, or on a virtual thread");
        }
        SocketLink[] made = new SocketLink[1];
        CompletableFuture<Connection> connecting = attempt.apply(new PerConnection(connection -> {
            SocketLink link = new SocketLink(connection, true, null);
            made[0] = link;
            return link;
        }));
        await(connecting, address);
        return new DirectSocket(made[0]);
    }

    /** Waits until it is connected. If that fails, nothing is left. */
    static void await(CompletableFuture<Connection> connecting, Object address) throws IOException {
        try {
            connecting.get();
        } catch (InterruptedException e) {
            if (!connecting.cancel(false) && connecting.state() == Future.State.SUCCESS) {
                connecting.resultNow().abort(); // it was connected in this moment, and nobody else has it
            }
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("cannot connect to " + address + ": the thread was interrupted");
        } catch (CancellationException e) {
            throw new IOException("cannot connect to " + address + ": it was cancelled", e);
        } catch (ExecutionException e) {
            throw failure(address, e.getCause());
        }
    }

    /** Returns an exception of the same type, if that tells what to do, with the stack of the caller. */
    private static IOException failure(Object address, @Nullable Throwable cause) {
        String message = cause == null ? "cannot connect to " + address : String.valueOf(cause.getMessage());
        IOException thrown = switch (cause) {
            case java.net.UnknownHostException e -> new java.net.UnknownHostException(message);
            case java.net.SocketTimeoutException e -> new java.net.SocketTimeoutException(message);
            case java.net.ConnectException e -> new java.net.ConnectException(message);
            case SSLHandshakeException e -> new SSLHandshakeException(message);
            case SSLException e -> new SSLException(message);
            case null, default -> new IOException(message);
        };
        if (cause != null) {
            thrown.initCause(cause);
        }
        return thrown;
    }

    /**
     * Shuts down gracefully: flushes the pending output of every connection and closes it: see {@link
     * TcpClient#shutdown}.
     *
     * @param atMost how long connections may take
     * @return what was left
     */
    public ShutdownResult shutdown(Duration atMost) {
        return client.shutdown(atMost);
    }

    /** Closes all connections at once, and wakes the threads that wait for them: see {@link TcpClient#close}. */
    @Override
    public void close() {
        client.close();
    }

    // ---- Observing ----

    @Override
    public ServerMetrics metrics() {
        return client.metrics();
    }

    @Override
    public String dump() {
        return client.dump();
    }

    @Override
    public List<ConnectionSnapshot> connections() {
        return client.connections();
    }

    @Override
    public Optional<ConnectionSnapshot> connection(long id) {
        return client.connection(id);
    }

    @Override
    public boolean isOpen() {
        return client.isOpen();
    }

    @Override
    public List<String> remaining() {
        return client.remaining();
    }

    @Override
    public ServerContext context() {
        return client.context();
    }

    @Override
    public String toString() {
        return "direct " + client;
    }
}
