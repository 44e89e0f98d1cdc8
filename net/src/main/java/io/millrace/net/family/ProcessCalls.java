package io.millrace.net.family;

import io.millrace.poll.SourceHandle;
import io.millrace.sys.posix.Processes;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A child process that was started by posix_spawn or by the JDK. */
public interface ProcessCalls {
    SourceHandle handle();

    long pid();

    /** Returns our end of the pipe to stream 0, 1 or 2 of the child; null if there is no pipe. */
    @Nullable
    ByteCalls stream(int number);

    /** Returns how it ended, or null if it is running. */
    Processes.@Nullable Ended poll() throws IOException;

    boolean kill(String signal) throws IOException;

    /** Releases the child; the caller closes the streams. */
    void close();
}
