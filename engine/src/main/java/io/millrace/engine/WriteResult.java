package io.millrace.engine;

import java.io.IOException;

/** The result of a write of a {@link CompletionDescriptor}. */
public sealed interface WriteResult {
    /**
     * The system has taken all bytes.
     *
     * @param bytes how many bytes were written
     */
    record Written(long bytes) implements WriteResult {}

    /**
     * The write failed: the connection was reset.
     *
     * @param cause why it failed
     * @param bytes how many bytes the system had taken before
     */
    record Failed(IOException cause, long bytes) implements WriteResult {}

    /** The descriptor was closed first. */
    record Closed() implements WriteResult {}
}
