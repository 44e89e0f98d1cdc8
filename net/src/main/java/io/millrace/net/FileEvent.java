package io.millrace.net;

import io.millrace.net.family.FileChange;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A change that a {@link FileWatch} reports.
 *
 * @param kind what happened
 * @param path what it happened to: the watched path, or an entry of a watched directory; null only for {@link
 *     Kind#OVERFLOW}
 * @param from for {@link Kind#MOVED} the previous path, else null
 */
public record FileEvent(
        Kind kind, @Nullable Path path, @Nullable Path from) {
    /** The kinds of changes. */
    public enum Kind {
        /** It exists now: it was created, or moved here from a place that is not watched. */
        CREATED(FileChange.Kind.CREATED),
        /** Its content or its attributes changed. Several changes may be one event. */
        MODIFIED(FileChange.Kind.MODIFIED),
        /**
         * It no longer exists: it was deleted, or moved to a place that is not watched. For a watched directory itself,
         * this is the last event.
         */
        DELETED(FileChange.Kind.DELETED),
        /** It was moved from one watched place to another. Linux only; elsewhere this is DELETED and CREATED. */
        MOVED(FileChange.Kind.MOVED),
        /** More happened than could be kept, and some of it is lost: look at the files themselves. Always reported. */
        OVERFLOW(FileChange.Kind.OVERFLOW);

        /** The corresponding value in {@code net.family}. */
        final FileChange.Kind change;

        Kind(FileChange.Kind change) {
            this.change = change;
        }
    }

    static FileEvent of(FileChange change) {
        Kind kind = switch (change.kind()) {
            case CREATED -> Kind.CREATED;
            case MODIFIED -> Kind.MODIFIED;
            case DELETED -> Kind.DELETED;
            case MOVED -> Kind.MOVED;
            case OVERFLOW -> Kind.OVERFLOW;
        };
        return new FileEvent(kind, change.path(), change.from());
    }

    @Override
    public String toString() {
        return kind + (path == null ? "" : from == null ? " " + path : " " + from + " to " + path);
    }
}
