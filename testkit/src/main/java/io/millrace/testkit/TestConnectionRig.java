package io.millrace.testkit;

import io.millrace.engine.Dispatch;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.TcpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** {@link TestConnection} as a {@link ConnectionRig}, to prove that it behaves like a real one. */
public final class TestConnectionRig implements ConnectionRig {
    /** How much the system takes for a peer that does not read. */
    private static final int SYSTEM = 64 * 1024;

    private final Dispatch dispatch;
    private final List<TestConnection> opened = new ArrayList<>();
    private @Nullable TestConnection first;

    /**
     * A rig without a server yet.
     *
     * @param dispatch where callbacks run
     */
    public TestConnectionRig(Dispatch dispatch) {
        this.dispatch = dispatch;
    }

    @Override
    public TcpServer.Builder server() {
        return TcpServer.builder().dispatch(dispatch, 2);
    }

    @Override
    public Peer open(TcpServer.Builder settings, ConnectionHandler handler) {
        first = TestConnection.open(settings, handler);
        return add(first);
    }

    @Override
    public Peer openAnother() {
        return add(first().openAnother());
    }

    private TestConnection first() {
        return Objects.requireNonNull(first, "open() first");
    }

    private Peer add(TestConnection connection) {
        opened.add(connection);
        connection.peerStopsReading();
        connection.peerReads(SYSTEM);
        return new MemoryPeer(connection);
    }

    @Override
    public void advance(Duration by) {
        first().advance(by);
    }

    @Override
    public void settle() {
        first().runUntilIdle();
    }

    @Override
    public void await(String what, BooleanSupplier condition) {
        settle();
        if (!condition.getAsBoolean()) {
            throw new AssertionError("idle, and not yet: " + what);
        }
    }

    @Override
    public void close() {
        opened.forEach(TestConnection::close);
    }

    /** One who reads when it is told to. */
    private static final class MemoryPeer implements Peer {
        private final TestConnection connection;
        private final ByteArrayOutputStream unread = new ByteArrayOutputStream();
        private boolean broken;

        MemoryPeer(TestConnection connection) {
            this.connection = connection;
        }

        @Override
        public void send(byte... bytes) {
            connection.receive(bytes);
        }

        @Override
        public void endOutput() {
            connection.endOfInput();
        }

        @Override
        public void reset() {
            broken = true;
            connection.reset();
        }

        @Override
        public byte[] read(int count) {
            while (unread.size() < count && fetch()) {}
            if (unread.size() < count && !connection.hasOutputEnded() && !connection.wasReset()) {
                throw new AssertionError("idle, and only " + unread.size() + " of " + count + " bytes were sent");
            }
            byte[] all = unread.toByteArray();
            int taken = Math.min(count, all.length);
            unread.reset();
            unread.write(all, taken, all.length - taken);
            byte[] result = new byte[taken];
            System.arraycopy(all, 0, result, 0, taken);
            return result;
        }

        /** Reads what the system has taken, so that it takes as much again. */
        private boolean fetch() {
            byte[] taken = connection.takeSent();
            unread.writeBytes(taken);
            connection.peerReads(taken.length);
            return taken.length > 0;
        }

        @Override
        public byte[] readToEnd() throws IOException {
            if (broken) {
                throw new IOException("the connection is broken");
            }
            while (fetch()) {}
            if (connection.wasReset()) {
                throw new IOException("the connection was reset");
            }
            if (!connection.hasOutputEnded()) {
                throw new AssertionError("idle, and the output has not ended");
            }
            return read(unread.size());
        }

        @Override
        public Connection connection() {
            return connection.connection();
        }
    }
}
