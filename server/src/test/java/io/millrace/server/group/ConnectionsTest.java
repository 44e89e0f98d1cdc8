package io.millrace.server.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Reactors;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.engine.transport.TransportAccess;
import io.millrace.net.TcpStream;
import io.millrace.server.connection.ConnectionDispatcher;
import io.millrace.server.connection.StreamConnection;
import io.millrace.server.support.ServerSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ConnectionsTest {
    private static final InetAddress HERE = InetAddress.getLoopbackAddress();

    @Test
    @DisplayName(
            "end-4: a connection that has a place when all are closed, and is not among them yet, is closed when it gets there")
    void addedAfterTheClose() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        ServerSettings settings = new ServerSettings();
        Connections connections = new Connections(settings, Integer.MAX_VALUE, Integer.MAX_VALUE);
        try (Reactors manager = Reactors.builder().reactors(1).open();
                ServerSocket listener = new ServerSocket(0, 1, HERE);
                ConnectionDispatcher callbacks = ConnectionDispatcher.of("test", settings)) {
            ServerLoop loop = TransportAccess.get().loops(manager).getFirst();
            assertThat(connections.admit(HERE)).isEqualTo(Connections.Admission.TAKEN);
            StreamConnection connection = connect(loop, listener, settings, callbacks, connections, calls);

            // Just here another thread closes all of them, and goes through those that are there.
            CompletableFuture<Void> ended = connections.closeAdmission();
            assertThat(connections.connections()).isEmpty();
            assertThat(ended).isNotDone();

            connections.add(connection);
            assertThat(connection.isClosed()).isTrue();
            try (Socket peer = listener.accept()) {
                loop.execute(connection::open);
                ended.get(10, TimeUnit.SECONDS);
                peer.setSoTimeout(10_000);
                assertThat(isOver(peer)).isTrue();
            }
            assertThat(connections.unended()).isEmpty();
            assertThat(calls).as("of a handler that was told of no connection").hasValue(0);
        }
    }

    private static StreamConnection connect(
            ServerLoop loop,
            ServerSocket listener,
            ServerSettings settings,
            ConnectionDispatcher callbacks,
            Connections connections,
            AtomicInteger calls)
            throws IOException {
        TcpStream stream = loop.net().connect(new InetSocketAddress(HERE, listener.getLocalPort()));
        return new StreamConnection(
                connections.nextId(),
                loop,
                stream,
                stream.remoteAddress(),
                (same, data) -> calls.incrementAndGet(),
                settings,
                callbacks,
                connections);
    }

    private static boolean isOver(Socket peer) {
        try {
            return peer.getInputStream().read() == -1;
        } catch (java.net.SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true; // reset, which is an end too
        }
    }
}
