package io.millrace.engine;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The result of a read of a {@link CompletionDescriptor}. */
public sealed interface ReadResult {
    /**
     * Bytes were read.
     *
     * @param buffer the allocator's buffer, from where it began to where the bytes end
     * @param sender the sender of the datagram; null for a connection
     */
    record Data(ByteBuffer buffer, @Nullable InetSocketAddress sender) implements ReadResult {}

    /** The peer sends no more. */
    record EndOfStream() implements ReadResult {}

    /**
     * The read failed: the connection was reset, or the allocator provided no room.
     *
     * @param cause why it failed
     */
    record Failed(IOException cause) implements ReadResult {}

    /** The descriptor was closed first. */
    record Closed() implements ReadResult {}
}
