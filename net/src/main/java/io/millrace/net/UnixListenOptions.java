package io.millrace.net;

import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a listener on a Unix socket.
 *
 * @param backlog how many connections may wait to be accepted; the system may reduce it
 * @param permissions of the socket's file, or null for what the process's umask leaves; whoever may write the file may
 *     connect. With descriptors they are set before the first connection is possible; NIO sets them right afterwards
 * @param replaceStale whether the file of a listener that no longer exists is replaced, which a process leaves behind
 *     that is killed. A file is stale if it is a socket, and connecting to it is refused; any other file stays
 */
public record UnixListenOptions(int backlog, @Nullable Set<PosixFilePermission> permissions, boolean replaceStale) {
    private static final UnixListenOptions STANDARD = new UnixListenOptions(Net.DEFAULT_BACKLOG, null, false);

    /**
     * Checks the values, and copies the permissions.
     *
     * @throws IllegalArgumentException if the backlog is not positive
     */
    public UnixListenOptions {
        if (backlog < 1) {
            throw new IllegalArgumentException("a backlog is at least 1: " + backlog);
        }
        permissions = permissions == null ? null : Set.copyOf(permissions);
    }

    /**
     * Returns the default options: a backlog of {@value Net#DEFAULT_BACKLOG}, the permissions that the umask leaves, and
     * no file is replaced.
     *
     * @return always the same ones
     */
    public static UnixListenOptions standard() {
        return STANDARD;
    }

    /**
     * Returns the same options with another backlog.
     *
     * @param backlog how many connections may wait to be accepted
     * @return new options
     * @throws IllegalArgumentException if it is not positive
     */
    public UnixListenOptions withBacklog(int backlog) {
        return new UnixListenOptions(backlog, permissions, replaceStale);
    }

    /**
     * Returns the same options with other permissions.
     *
     * @param permissions of the socket's file; null for what the umask leaves
     * @return new options
     */
    public UnixListenOptions withPermissions(@Nullable Set<PosixFilePermission> permissions) {
        return new UnixListenOptions(backlog, permissions, replaceStale);
    }

    /**
     * Returns the same options, replacing stale files or not.
     *
     * @param replaceStale whether the file of a listener that no longer exists is replaced
     * @return new options
     */
    public UnixListenOptions withReplaceStale(boolean replaceStale) {
        return new UnixListenOptions(backlog, permissions, replaceStale);
    }
}
