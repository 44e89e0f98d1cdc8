package io.millrace.server;

import io.millrace.server.support.ConnectionLog;
import java.nio.ByteBuffer;

/** What a {@link UdpServer} calls, on the loop of the socket that received; it must not block. */
@FunctionalInterface
public interface DatagramHandler {
    /**
     * A datagram was received.
     *
     * @param from who sent it, and how to answer; valid until this returns
     * @param data its bytes, from 0 to the limit; valid until this returns
     * @throws Exception is told to {@link #onError}; the server goes on
     */
    void onDatagram(Datagram from, ByteBuffer data) throws Exception;

    /**
     * Something failed: {@link #onDatagram} threw, or the system refused to receive or send. The server goes on.
     *
     * @param failure by default it is logged as a warning, with at most one line a second
     */
    default void onError(Throwable failure) {
        ConnectionLog.standard().log(ConnectionLog.Kind.CALLBACK, failure, "a datagram of ", this, " failed");
    }
}
