package io.millrace.engine;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A connection or a datagram socket that a {@link CompletionEventManager} reads and writes for you.
 *
 * <p><b>What it guarantees.</b> A callback runs once for each read or write, on the descriptor's own thread of the manager and never inside
 * the call itself. A write is done when the system has taken all of it. A read is done when there is something: bytes, the end, or a
 * failure. From inside a callback the next read or write may be asked for.
 *
 * <p><b>Ending.</b> A manager that ends closes its descriptors.
 *
 * <p><b>Threads.</b> Any, except for {@link #attachment}, which is yours to guard. It starts no thread.
 */
public interface CompletionDescriptor extends AutoCloseable {
    /**
     * Who reads and writes it.
     *
     * @return the manager that it was registered with
     */
    CompletionEventManager manager();

    /**
     * The descriptor's number.
     *
     * @return −1 if it is closed, or has no number
     */
    int fd();

    /**
     * Whether it was closed.
     *
     * @return true from then on
     */
    boolean isClosed();

    /**
     * Reads once.
     *
     * @param allocator asked for a buffer when there is something to read; one without room, or a failure to give one, makes the read fail
     * @param callback gets the outcome
     * @throws IllegalStateException if a read is pending, or the descriptor is closed; nothing is changed
     */
    void read(Supplier<ByteBuffer> allocator, Consumer<ReadResult> callback);

    /**
     * Writes all of these bytes, to the peer that the socket is connected with. The buffers are this write's until its callback runs.
     *
     * @param buffers in their order; for a datagram socket together one datagram
     * @param callback gets the outcome
     * @throws IllegalStateException if a write is pending, or the descriptor is closed; nothing is changed
     */
    default void write(List<ByteBuffer> buffers, Consumer<WriteResult> callback) {
        write(buffers, null, callback);
    }

    /**
     * Writes all of these bytes. The buffers are this write's until its callback runs.
     *
     * @param buffers in their order; for a datagram socket together one datagram
     * @param target where a datagram goes; null for the peer that the socket is connected with
     * @param callback gets the outcome
     * @throws IllegalStateException if a write is pending, or the descriptor is closed; nothing is changed
     * @throws IllegalArgumentException if a connection is given a target
     */
    void write(List<ByteBuffer> buffers, @Nullable InetSocketAddress target, Consumer<WriteResult> callback);

    /**
     * What the user attached.
     *
     * @return null at first
     */
    @Nullable
    Object attachment();

    /**
     * Attaches something of the user's.
     *
     * @param attachment anything
     */
    void setAttachment(@Nullable Object attachment);

    /** Gives a pending read and a pending write the outcome closed, on the descriptor's thread, and then closes the socket. Idempotent. */
    @Override
    void close();
}
