package io.millrace.engine.transport;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Receives what a {@link StreamTransport} reads and reports: in the server, a connection. All calls come on the loop, one after the other; none follows {@link #onFailed} or a close. */
public interface TransportSink {
    /** Called when a connect has succeeded; with TLS, when the handshake is complete. Not called for an accepted connection without TLS. */
    default void onConnected() {}

    /**
     * Called with received bytes.
     *
     * @param data in the loop's own buffer, which is reused when this returns
     */
    void onReceived(ByteBuffer data);

    /** Called when the peer will send no more. The other direction is still open. */
    void onEndOfInput();

    /** Called when there is room again, after {@link StreamTransport#send} did not take everything. */
    void onWritable();

    /**
     * Called when the connection has failed: reset, refused or otherwise. The transport is closed when this returns, if
     * the sink has not closed it: so the sink can have the peer see a reset, if output is lost.
     *
     * @param cause why it failed
     */
    void onFailed(IOException cause);

    /** Called in the loop's last turn. Output that the system takes now may still be sent; the transport is closed when this returns. */
    void onLoopEnd();

    /**
     * Loads from memory what {@link #onReceived} will read, because it is about to be called.
     *
     * @return a value computed from what was loaded, so that the loads are not optimized away
     */
    default int prefetch() {
        return 0;
    }
}
