package io.millrace.net;

import io.millrace.net.family.UnixName;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where a Unix socket listens: at a path, or, on Linux, at a name that no file system knows.
 *
 * <p>A path of more than about a hundred bytes (107 on Linux, 103 on macOS) is refused by the system when it is used; a relative one
 * is taken as it is.
 */
public final class UnixAddress {
    private final UnixName name;

    private UnixAddress(UnixName name) {
        this.name = name;
    }

    /**
     * A socket at a path.
     *
     * @param path where its file is, or will be
     * @return the address
     * @throws IllegalArgumentException if the path is empty, or not of the default file system
     */
    public static UnixAddress of(Path path) {
        if (!Objects.equals(path.getFileSystem(), FileSystems.getDefault())) {
            throw new IllegalArgumentException("a Unix socket needs a path of the default file system, not " + path
                    + " of " + path.getFileSystem());
        }
        if (path.toString().isEmpty()) {
            throw new IllegalArgumentException("a Unix socket needs a path; this one is empty");
        }
        return new UnixAddress(new UnixName(path, path.toString()));
    }

    /**
     * A name of Linux's abstract name space: no file, no permissions, gone with its listener.
     *
     * @param name any text, of at most 107 bytes in UTF-8
     * @return the address
     * @throws IllegalArgumentException if the name is empty
     */
    public static UnixAddress ofAbstract(String name) {
        if (name.isEmpty()) {
            throw new IllegalArgumentException("an abstract name has at least one character");
        }
        return new UnixAddress(new UnixName(null, name));
    }

    /**
     * Its path.
     *
     * @return as given, or null for an abstract name
     */
    public @Nullable Path path() {
        return name.path();
    }

    /** As a family takes it. */
    UnixName name() {
        return name;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof UnixAddress address && name.equals(address.name);
    }

    @Override
    public int hashCode() {
        return name.hashCode();
    }

    @Override
    public String toString() {
        return name.toString();
    }
}
