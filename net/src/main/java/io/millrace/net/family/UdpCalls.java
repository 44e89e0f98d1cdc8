package io.millrace.net.family;

import io.millrace.poll.internal.KernelHandle;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Moves the datagrams of a socket: a descriptor or a {@code java.nio} channel. Calls return a count, or {@link
 * ByteCalls#WOULD_BLOCK} after marking the direction drained; on a closed socket they throw ClosedChannelException.
 */
public interface UdpCalls extends SocketSettings {
    KernelHandle handle();

    boolean isOpen();

    void connect(InetSocketAddress remote) throws IOException;

    /** Sends a datagram; to the connected peer if {@code to} is null. */
    int send(ByteBuffer from, @Nullable InetSocketAddress to) throws IOException;

    int send(MemorySegment from, @Nullable InetSocketAddress to) throws IOException;

    /** Receives into a writable buffer. */
    int receive(ByteBuffer into) throws IOException;

    /** Receives into a writable segment. */
    int receive(MemorySegment into) throws IOException;

    /** Returns the sender of the datagram that was last received. */
    @Nullable
    InetSocketAddress sender();

    /** Returns whether the datagram that was last received did not fit. */
    boolean wasTruncated();
}
