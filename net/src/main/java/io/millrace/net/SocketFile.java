package io.millrace.net;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/**
 * The file that a bind created, identified by its file key (device and inode), so that a close removes this file and
 * not one that replaced it. The key stays valid while the socket is open, because that holds the inode; so it is
 * compared before the socket is closed. Between the comparison and the removal there is a short gap that no system call
 * can close.
 */
final class SocketFile {
    private final Path path;
    private final @Nullable Object key;

    private SocketFile(Path path, @Nullable Object key) {
        this.path = path;
        this.key = key;
    }

    /** Called right after the bind. Returns null for an abstract name, or if the file is already gone. */
    static @Nullable SocketFile of(UnixAddress address) {
        Path path = address.path();
        if (path == null) {
            return null;
        }
        try {
            return new SocketFile(path, keyOf(path));
        } catch (IOException e) {
            return null;
        }
    }

    /** Returns the file that is at a path, if it is neither a regular file nor a directory nor a link; or else null. */
    static @Nullable SocketFile ofSocket(UnixAddress address) {
        Path path = address.path();
        if (path == null) {
            return null;
        }
        try {
            BasicFileAttributes found =
                    Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            return found.isOther() ? new SocketFile(path, found.fileKey()) : null;
        } catch (IOException e) {
            return null;
        }
    }

    /** Removes the file if it is still the same. */
    void delete() {
        try {
            Object now = keyOf(path);
            // Windows has no file keys; but there, a file that is in use by a socket cannot be replaced.
            if (key == null || key.equals(now)) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            // It is gone, or its directory is no longer accessible; the next bind there will report it.
            System.getLogger("io.millrace").log(Level.DEBUG, () -> "not removing " + path, e);
        }
    }

    private static @Nullable Object keyOf(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                .fileKey();
    }
}
