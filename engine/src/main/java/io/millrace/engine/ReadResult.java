package io.millrace.engine;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** How a read of a {@link CompletionDescriptor} ended. */
public sealed interface ReadResult {
    /**
     * Bytes came.
     *
     * @param buffer the allocator's buffer, ready to be read from where it began to where the bytes end
     * @param sender who sent the datagram; null for a connection
     */
    record Data(ByteBuffer buffer, @Nullable InetSocketAddress sender) implements ReadResult {}

    /** The peer sends no more. */
    record EndOfStream() implements ReadResult {}

    /**
     * It failed: the connection was reset, or the allocator gave no room.
     *
     * @param cause why
     */
    record Failed(IOException cause) implements ReadResult {}

    /** The descriptor was closed first. */
    record Closed() implements ReadResult {}
}
