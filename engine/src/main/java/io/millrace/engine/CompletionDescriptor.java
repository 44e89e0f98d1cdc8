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
 * <p><b>What it guarantees.</b> The callback of each read or write runs once, on the descriptor's own thread of the
 * manager and never inside the call itself. A write is complete when the system has taken all of it. A read is complete
 * when there are bytes, the end of the stream, or a failure. A callback may start the next read or write. On a
 * connection that is still connecting, both begin when it is established, or fail with it; so a write without bytes
 * reports when it is established.
 *
 * <p><b>Ending.</b> A manager that ends closes its descriptors.
 *
 * <p><b>Threads.</b> Any thread may call any method; access to the {@link #attachment} is yours to synchronize. It
 * starts no thread.
 */
public interface CompletionDescriptor extends AutoCloseable {
    /**
     * Returns the manager that reads and writes it.
     *
     * @return the manager that it was registered with
     */
    CompletionEventManager manager();

    /**
     * Returns the descriptor's number.
     *
     * @return −1 if it is closed or has no number
     */
    int fd();

    /**
     * Returns whether it was closed.
     *
     * @return true from then on
     */
    boolean isClosed();

    /**
     * Reads once.
     *
     * @param allocator asked for a buffer when there is something to read; if it throws or the buffer has no room, the
     *     read fails
     * @param callback called with the result
     * @throws IllegalStateException if a read is pending, or the descriptor is closed; nothing is changed
     */
    void read(Supplier<ByteBuffer> allocator, Consumer<ReadResult> callback);

    /**
     * Writes bytes to the peer that the socket is connected to. The buffers must not be used until the callback runs.
     *
     * @param buffers the bytes, in order; for a datagram socket they form one datagram
     * @param callback called with the result when everything is written, or on failure
     * @throws IllegalStateException if a write is pending, or the descriptor is closed; nothing is changed
     */
    default void write(List<ByteBuffer> buffers, Consumer<WriteResult> callback) {
        write(buffers, null, callback);
    }

    /**
     * Writes bytes. The buffers must not be used until the callback runs.
     *
     * @param buffers the bytes, in order; for a datagram socket they form one datagram
     * @param target the receiver of a datagram; null for the peer that the socket is connected to
     * @param callback called with the result when everything is written, or on failure
     * @throws IllegalStateException if a write is pending, or the descriptor is closed; nothing is changed
     * @throws IllegalArgumentException if there is a target and this is a connection
     */
    void write(List<ByteBuffer> buffers, @Nullable InetSocketAddress target, Consumer<WriteResult> callback);

    /**
     * Returns the object that was attached with {@link #setAttachment}.
     *
     * @return null at first
     */
    @Nullable
    Object attachment();

    /**
     * Attaches an object of your choice.
     *
     * @param attachment any object, or null
     */
    void setAttachment(@Nullable Object attachment);

    /**
     * Completes a pending read and a pending write with the result closed, on the descriptor's thread, and then closes
     * the socket. Idempotent.
     */
    @Override
    void close();
}
