package io.millrace.net.family;

import io.millrace.poll.internal.KernelHandle;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** What takes the waiting connections of a listener, TCP or Unix: a descriptor or a {@code java.nio} channel. */
public interface AcceptCalls {
    /**
     * A connection that was waiting.
     *
     * @param calls the caller's to close
     * @param remote who connected; null at a Unix socket, whose clients have no name
     */
    record Accepted(StreamCalls calls, @Nullable InetSocketAddress remote) {}

    KernelHandle handle();

    /** Null, and the handle told of it, if nobody waits. */
    @Nullable
    Accepted accept() throws IOException;
}
