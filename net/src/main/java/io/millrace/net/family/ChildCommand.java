package io.millrace.net.family;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A child that is to be started.
 *
 * @param command the program and its arguments
 * @param streams what becomes of its standard input, output and error, in this order
 * @param variables those to be set, or removed if the value is null
 * @param onlyTheseVariables whether it inherits no other
 * @param directory where it begins; where this process is, if null
 */
public record ChildCommand(
        List<String> command,
        List<Stream> streams,
        Map<String, @Nullable String> variables,
        boolean onlyTheseVariables,
        @Nullable Path directory) {
    /** Where a standard stream goes to or comes from. */
    public enum Stream {
        PIPE,
        INHERIT,
        DISCARD
    }
}
