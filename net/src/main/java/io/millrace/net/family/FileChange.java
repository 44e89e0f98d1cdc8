package io.millrace.net.family;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A change that a watch reports.
 *
 * @param kind what happened
 * @param path what it happened to; null only for {@link Kind#OVERFLOW}
 * @param from for {@link Kind#MOVED} the previous path, else null
 */
public record FileChange(
        Kind kind, @Nullable Path path, @Nullable Path from) {
    /** Corresponds to the public {@code FileEvent.Kind}. */
    public enum Kind {
        CREATED,
        MODIFIED,
        DELETED,
        MOVED,
        OVERFLOW
    }

    public static FileChange of(Kind kind, Path path) {
        return new FileChange(kind, path, null);
    }

    public static FileChange moved(Path from, Path to) {
        return new FileChange(Kind.MOVED, to, from);
    }

    public static FileChange overflow() {
        return new FileChange(Kind.OVERFLOW, null, null);
    }
}
