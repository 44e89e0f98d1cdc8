package io.millrace.net.family;

import io.millrace.poll.SourceHandle;
import io.millrace.sys.posix.Processes;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A child that was started: by posix_spawn, or by the JDK. */
public interface ProcessCalls {
    SourceHandle handle();

    long pid();

    /** The end of a pipe to the child's stream, or null if that has no pipe; 0, 1, 2. */
    @Nullable
    ByteCalls stream(int number);

    /** How it ended, or null if it runs. */
    Processes.@Nullable Ended poll() throws IOException;

    boolean kill(String signal) throws IOException;

    /** Lets go of the child; the streams are closed by the caller. */
    void close();
}
