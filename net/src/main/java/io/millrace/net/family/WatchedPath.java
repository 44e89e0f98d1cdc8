package io.millrace.net.family;

import io.millrace.net.family.FileChange.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One path that a watch was asked to watch. Systems watch directories; a file is watched as an entry of its directory, and so
 * by its name, whatever file has that name.
 *
 * @param path as it was asked for
 * @param directory what is watched for it
 * @param name the one entry of interest, or null for all of them
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

    /** How an entry that it covers is called in an event. */
    public Path pathOf(Path entry) {
        return name == null ? path.resolve(entry) : path;
    }
}
