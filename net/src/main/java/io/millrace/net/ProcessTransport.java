package io.millrace.net;

import io.millrace.poll.Handle;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A child that was started: by posix_spawn, or by the JDK. */
sealed interface ProcessTransport permits FdProcess, NioProcess {
    Handle handle();

    long pid();

    /** The end of a pipe to the child's stream, or null if that has no pipe; 0, 1, 2. */
    @Nullable
    ByteTransport stream(int number);

    ChildProcess.@Nullable Exit poll() throws IOException;

    boolean kill(String signal) throws IOException;

    /** Lets go of the child; the streams are closed by the caller. */
    void close();
}
