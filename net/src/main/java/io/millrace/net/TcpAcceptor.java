package io.millrace.net;

import io.millrace.poll.internal.OsHandle;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** What takes the waiting connections of a listener: a descriptor or a {@code java.nio} channel. */
sealed interface TcpAcceptor permits FdAcceptor, NioAcceptor {
    OsHandle handle();

    /** Null, and the handle told of it, if nobody waits. */
    @Nullable
    TcpStream accept() throws IOException;
}
