package io.millrace.net.family;

import io.millrace.sys.posix.UnixNames;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The address of a Unix socket.
 *
 * @param path null if it has a name in Linux's abstract namespace
 * @param text the path or the name
 */
public record UnixName(@Nullable Path path, String text) {
    /** Returns the bytes that the kernel expects. */
    public byte[] bytes() {
        return path != null ? UnixNames.ofPath(path) : UnixNames.ofAbstract(text);
    }

    @Override
    public String toString() {
        return path != null ? text : "@" + text;
    }
}
