package io.millrace.server.group;

import io.millrace.engine.recorder.FlightRecorderSwitch;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.net.TcpStream;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.connection.ConnectionDispatcher;
import io.millrace.server.connection.StreamConnection;
import io.millrace.server.support.ConnectionEvents;
import io.millrace.server.support.ConnectionLog;
import io.millrace.server.support.LimitAccess;
import io.millrace.server.support.ServerSettings;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/** Where the connections of a server come in: each is given a place and opened on its loop, or turned away. Any thread. */
public final class Reception {
    private final ConnectionHandler handler;
    private final ServerSettings settings;
    private final ConnectionDispatcher callbacks;
    private final Connections connections;

    public Reception(
            ConnectionHandler handler,
            ServerSettings settings,
            ConnectionDispatcher callbacks,
            Connections connections) {
        this.handler = handler;
        this.settings = settings;
        this.callbacks = callbacks;
        this.connections = connections;
    }

    /** One was accepted. Returns null if it was turned away, or gone before it was looked at. */
    @Nullable
    public StreamConnection admit(ServerLoop loop, TcpStream stream) {
        InetSocketAddress remote = stream.remoteAddress();
        InetAddress from = remote.getAddress();
        Connections.Admission admission = connections.admit(from);
        if (admission != Connections.Admission.TAKEN) {
            stream.close();
            tellRecorder(0, remote, loop, admission);
            reportTurnedAway(admission, remote);
            return null;
        }
        StreamConnection connection;
        try {
            connection =
                    new StreamConnection(connections.nextId(), loop, stream, handler, settings, callbacks, connections);
        } catch (Throwable e) {
            connections.leave(from);
            stream.close(); // gone before it was looked at
            tellError(e);
            return null;
        }
        tellRecorder(connection.id(), remote, loop, admission);
        if (settings.tls == null) {
            connections.add(connection);
        } else {
            connections.addUnsecured(connection);
        }
        try {
            run(loop, connection::open);
        } catch (RejectedExecutionException e) {
            if (connections.tryRemove(connection, connection.queuedBytes())) {
                connections.onEnded(connection);
            }
            stream.close();
        }
        return connection;
    }

    private static void tellRecorder(
            long id, InetSocketAddress remote, ServerLoop loop, Connections.Admission admission) {
        if (FlightRecorderSwitch.isOn()) {
            ConnectionEvents.accepted(id, remote, loop, admission);
        }
    }

    private static void run(ServerLoop loop, Runnable what) {
        if (loop.inLoop()) {
            what.run();
        } else {
            loop.execute(what);
        }
    }

    private void reportTurnedAway(Connections.Admission why, InetSocketAddress remote) {
        switch (why) {
            case FULL ->
                tellTurnedAway(remote, connections.most() + " are open, which is the limit; raise maxConnections");
            case ADDRESS_FULL ->
                tellTurnedAway(
                        remote,
                        connections.mostPerAddress() + " from "
                                + remote.getAddress().getHostAddress()
                                + " are open, which is the limit; raise maxConnectionsPerAddress");
            case TAKEN, CLOSED -> {
                // The server is being closed, which is nobody's failure.
            }
        }
    }

    private void tellTurnedAway(InetSocketAddress remote, String why) {
        tellError(LimitAccess.turnedAway("turned a connection away: " + why + ", or wait until one ends", remote));
    }

    /** Tells of a failure that is no connection's. */
    public void tellError(Throwable failure) {
        ConnectionLog.tell(handler, null, failure);
    }
}
