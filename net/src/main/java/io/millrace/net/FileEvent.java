package io.millrace.net;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A change that a {@link FileWatch} saw.
 *
 * @param kind what happened
 * @param path what it happened to: the watched path, or an entry of a watched directory; null only for {@link Kind#OVERFLOW}
 * @param from for {@link Kind#MOVED} where it was before, else null
 */
public record FileEvent(
        Kind kind, @Nullable Path path, @Nullable Path from) {
    /** What can happen. */
    public enum Kind {
        /** It is there now: made, or moved here from a place that is not watched. */
        CREATED,
        /** Its content, or its attributes, changed. Several changes may be one event. */
        MODIFIED,
        /** It is no longer there: deleted, or moved to a place that is not watched. Of a watched directory itself: its last event. */
        DELETED,
        /** It was moved from one watched place to another. Linux only; elsewhere that is DELETED and CREATED. */
        MOVED,
        /** More happened than could be kept, and some of it is lost: look at the files themselves. Reported always. */
        OVERFLOW
    }

    static FileEvent of(Kind kind, Path path) {
        return new FileEvent(kind, path, null);
    }

    static FileEvent moved(Path from, Path to) {
        return new FileEvent(Kind.MOVED, to, from);
    }

    static FileEvent overflow() {
        return new FileEvent(Kind.OVERFLOW, null, null);
    }

    @Override
    public String toString() {
        return kind + (path == null ? "" : from == null ? " " + path : " " + from + " to " + path);
    }
}
