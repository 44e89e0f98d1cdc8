package io.millrace.cli.redis;

import io.millrace.server.Connection;
import io.millrace.server.SendResult;
import java.nio.ByteBuffer;

/**
 * What a session needs from its connection, so that it can be tested without one. The methods are those of {@link
 * Connection}.
 */
interface Peer {
    long id();

    SendResult send(ByteBuffer data);

    long queuedBytes();

    void pauseReads();

    void resumeReads();

    void close();

    void abort();

    /** A real connection. */
    record Of(Connection connection) implements Peer {
        @Override
        public long id() {
            return connection.id();
        }

        @Override
        public SendResult send(ByteBuffer data) {
            return connection.send(data);
        }

        @Override
        public long queuedBytes() {
            return connection.queuedBytes();
        }

        @Override
        public void pauseReads() {
            connection.pauseReads();
        }

        @Override
        public void resumeReads() {
            connection.resumeReads();
        }

        @Override
        public void close() {
            connection.close();
        }

        @Override
        public void abort() {
            connection.abort();
        }

        @Override
        public String toString() {
            return connection.toString();
        }
    }
}
