package io.millrace.server.connect;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Reactors;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.net.Resolver;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.TcpServer;
import io.millrace.server.connection.ConnectionDispatcher;
import io.millrace.server.connection.StreamConnection;
import io.millrace.server.group.Connections;
import io.millrace.server.support.ServerSettings;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A race of attempts to connect")
@Timeout(30)
class ConnectRaceTest {
    /** Cancelled by another thread right after the race has looked at it. */
    private static final class CancelledAfterALook extends CompletableFuture<Connection> {
        @Override
        public boolean isDone() {
            boolean done = super.isDone();
            cancel(false);
            return done;
        }
    }

    @Test
    @DisplayName("end-7, vt-1: one that is cancelled in the moment when it begins leaves no alarm behind")
    void cancelledAsItBegins() throws Exception {
        CompletableFuture<ServerLoop> opened = new CompletableFuture<>();
        ConnectionHandler handler = (connection, data) -> opened.complete(((StreamConnection) connection).loop());
        ServerSettings settings = new ServerSettings();
        Connections connections = new Connections(settings, 10, 10);
        try (Reactors reactors = Reactors.builder().reactors(1).name("test").open();
                TcpServer server = TcpServer.builder().manager(reactors).start(handler);
                ConnectionDispatcher callbacks = ConnectionDispatcher.of("test", settings);
                Socket socket = new Socket(
                        server.address().getAddress(), server.address().getPort())) {
            socket.getOutputStream().write(1);
            ServerLoop loop = opened.get(20, TimeUnit.SECONDS);
            ConnectRace race = new ConnectRace(
                    new ConnectRace.Terms(
                            settings, callbacks, connections, Resolver.system(), TimeUnit.HOURS.toNanos(1)),
                    loop,
                    ConnectTarget.of(server.address()),
                    handler,
                    new CancelledAfterALook(),
                    won -> {});
            CompletableFuture<Void> begun = new CompletableFuture<>();
            loop.execute(() -> {
                race.begin();
                begun.complete(null);
            });
            begun.get(20, TimeUnit.SECONDS);
            assertThat(connections.remaining()).isEmpty();
            StringBuilder dump = new StringBuilder();
            loop.describe(dump);
            assertThat(dump).doesNotContain("ConnectRace");
        }
    }
}
