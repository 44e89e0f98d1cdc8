package io.millrace.engine;

import java.io.IOException;

/** How a write of a {@link CompletionDescriptor} ended. */
public sealed interface WriteResult {
    /**
     * All of it was taken by the system.
     *
     * @param bytes how many
     */
    record Written(long bytes) implements WriteResult {}

    /**
     * It failed: the connection was reset.
     *
     * @param cause why
     * @param bytes how many the system had taken before
     */
    record Failed(IOException cause, long bytes) implements WriteResult {}

    /** The descriptor was closed first. */
    record Closed() implements WriteResult {}
}
