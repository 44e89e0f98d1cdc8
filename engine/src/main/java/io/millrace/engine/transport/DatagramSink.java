package io.millrace.engine.transport;

import java.io.IOException;

/** Gets the datagrams of a {@link DatagramTransport}, on its loop. */
public interface DatagramSink {
    /**
     * A datagram was received: {@link DatagramTransport#data} and the like tell about it until this returns.
     *
     * @param from where it can be answered
     */
    void onDatagram(DatagramTransport from);

    /**
     * A datagram could not be received or sent. The socket stays open.
     *
     * @param cause what the system said
     */
    void onFailed(IOException cause);

    /** The loop has ended, and the socket is closed. The last call. */
    void onLoopEnd();
}
