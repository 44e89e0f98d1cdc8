package io.millrace.server;

import io.millrace.engine.Dispatch;
import io.millrace.engine.pool.ObjectPool;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.net.TcpStream;
import io.millrace.server.connection.ConnectionDispatcher;
import io.millrace.server.connection.PerConnection;
import io.millrace.server.group.Connections;
import io.millrace.server.group.Reception;
import io.millrace.server.internal.ServerAccess;
import io.millrace.server.support.ServerSettings;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;

/** What {@link ServerAccess} promises: all of a server but its listeners and its end. */
final class HostedServers extends ServerAccess {
    /** One of them. */
    private record Hosting(Connections connections, Reception reception, ServerLoop loop) implements Hosted {
        @Override
        public ServerContext context() {
            return connections;
        }

        @Override
        public @Nullable Connection accept(TcpStream stream) {
            return reception.admit(loop, stream);
        }
    }

    @Override
    public Hosted host(TcpServer.Builder settings, ConnectionHandler handler, ServerLoop on, ExecutorService workers) {
        ServerSettings own = settings.settings();
        Connections connections = settings.connections(own);
        ConnectionDispatcher callbacks = own.dispatch == Dispatch.LOOP
                ? ConnectionDispatcher.of("millrace-test", own)
                : new ConnectionDispatcher.OnThreads(
                        List.of(workers), ObjectPool.ofBuffers(own.bufferSize(false), false), false);
        Reception reception =
                new Reception(Objects.requireNonNull(handler, "handler"), own, callbacks, connections, null);
        return new Hosting(connections, reception, on);
    }

    @Override
    public Hosted hostEach(TcpServer.Builder settings, HandlerFactory factory, ServerLoop on, ExecutorService workers) {
        return host(settings, new PerConnection(Objects.requireNonNull(factory, "factory")), on, workers);
    }
}
