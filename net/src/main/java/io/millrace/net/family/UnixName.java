package io.millrace.net.family;

import io.millrace.sys.posix.UnixNames;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Where a Unix socket listens.
 *
 * @param path or null, if it has a name of Linux's abstract name space
 * @param text the path or the name
 */
public record UnixName(@Nullable Path path, String text) {
    /** As the kernel wants it. */
    public byte[] bytes() {
        return path != null ? UnixNames.ofPath(path) : UnixNames.ofAbstract(text);
    }

    @Override
    public String toString() {
        return path != null ? text : "@" + text;
    }
}
