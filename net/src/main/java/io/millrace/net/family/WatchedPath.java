package io.millrace.net.family;

import io.millrace.net.family.FileChange.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One path that is to be watched. Systems watch directories; a file is watched as an entry of its directory, that is,
 * by name, no matter which file has that name.
 *
 * @param path the path as given
 * @param directory the directory to watch
 * @param name the only entry of interest, or null for all
 * @param kinds what to report
 */
public record WatchedPath(
        Path path, Path directory, @Nullable Path name, Set<Kind> kinds) {
    public static WatchedPath of(Path path, Set<Kind> kinds) throws IOException {
        if (Files.isDirectory(path)) {
            return new WatchedPath(path, path, null, kinds);
        }
        Path parent = path.toAbsolutePath().getParent();
        if (parent == null || !Files.isDirectory(parent)) {
            throw new NoSuchFileException(
                    path.toString(), null, "cannot watch it: its directory is not there; watch one that is");
        }
        return new WatchedPath(path, parent, path.getFileName(), kinds);
    }

    public boolean covers(Path entry) {
        return name == null || name.equals(entry);
    }

    public boolean wants(Kind kind) {
        return kinds.contains(kind);
    }

    /** Returns the path that an event has for an entry. */
    public Path pathOf(Path entry) {
        return name == null ? path.resolve(entry) : path;
    }
}
