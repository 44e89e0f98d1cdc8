package io.millrace.bench.runner;

import java.nio.file.Path;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What was asked for.
 *
 * @param home the working copy
 * @param quick less of everything
 * @param rounds null for as many as each suite thinks right
 * @param only a regular expression that the names of the comparisons to make contain; null for all of them
 * @param json where the figures go; null for a file in {@code bench/results}
 */
public record Settings(
        Path home,
        boolean quick,
        @Nullable Integer rounds,
        @Nullable String only,
        @Nullable Path json) {
    boolean isWanted(String comparison) {
        return only == null || Pattern.compile(only).matcher(comparison).find();
    }

    int rounds(int whenQuick, int otherwise) {
        return rounds != null ? rounds : quick ? whenQuick : otherwise;
    }
}
