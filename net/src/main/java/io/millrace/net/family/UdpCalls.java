package io.millrace.net.family;

import io.millrace.poll.internal.KernelHandle;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * What moves the datagrams of a socket: a descriptor or a {@code java.nio} channel. A count, or {@link ByteCalls#WOULD_BLOCK}, of which it
 * tells its handle; a call on a closed one throws ClosedChannelException.
 */
public interface UdpCalls extends SocketSettings {
    KernelHandle handle();

    boolean isOpen();

    void connect(InetSocketAddress remote) throws IOException;

    /** To whom it is connected, if {@code to} is null. */
    int send(ByteBuffer from, @Nullable InetSocketAddress to) throws IOException;

    int send(MemorySegment from, @Nullable InetSocketAddress to) throws IOException;

    /** The buffer is writable. */
    int receive(ByteBuffer into) throws IOException;

    /** The segment is writable. */
    int receive(MemorySegment into) throws IOException;

    /** Who sent what was received last. */
    @Nullable
    InetSocketAddress sender();

    /** Whether what was received last was longer than the room for it. */
    boolean wasTruncated();
}
