package io.millrace.engine.transport;

import java.io.IOException;
import java.nio.ByteBuffer;

/** What is told of a connection. Always on its loop, one call after the other, and nothing after {@link #failed} or a close. */
public interface TransportHandler {
    /** A connection that was being made is there. Not called for one that was accepted. */
    default void connected() {}

    /**
     * Bytes came.
     *
     * @param data in the loop's own buffer, which is used again when this returns
     */
    void received(ByteBuffer data);

    /** The peer sends no more. The other direction is still open. */
    void endOfInput();

    /** After {@link StreamTransport#send} did not take all: there is room again. */
    void writable();

    /**
     * It is broken: reset, refused, or otherwise. The transport is closed.
     *
     * @param cause why
     */
    void failed(IOException cause);

    /** The loop is in its last turn. What can be sent now may be sent; the transport is closed when this returns. */
    void loopEnds();

    /**
     * Loads from memory what {@link #received} is going to look at, because that will be called soon.
     *
     * @return anything, made of what was loaded, so that the loads are not left out
     */
    default int prefetch() {
        return 0;
    }
}
