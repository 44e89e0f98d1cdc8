package io.millrace.net.family;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A child process to be started.
 *
 * @param command the program and its arguments
 * @param streams what its standard input, output and error are connected to, in this order
 * @param variables variables to set or, if the value is null, to remove
 * @param onlyTheseVariables whether it inherits no others
 * @param directory where it starts; the directory of this process if null
 */
public record ChildCommand(
        List<String> command,
        List<Stream> streams,
        Map<String, @Nullable String> variables,
        boolean onlyTheseVariables,
        @Nullable Path directory) {
    /** What a standard stream is connected to. */
    public enum Stream {
        PIPE,
        INHERIT,
        DISCARD
    }
}
