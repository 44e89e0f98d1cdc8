package io.millrace.net;

import io.millrace.net.family.UnixName;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The address of a Unix socket: a path or, on Linux, an abstract name outside the file system.
 *
 * <p>A path of more than about a hundred bytes (107 on Linux, 103 on macOS) is refused by the system when it is used. A
 * relative path is used as it is.
 */
public final class UnixAddress {
    private final UnixName name;

    private UnixAddress(UnixName name) {
        this.name = name;
    }

    /**
     * Returns the address of a socket at a path.
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
     * Returns an address in Linux's abstract namespace: there is no file and there are no permissions, and it
     * disappears with its listener.
     *
     * @param name any text of at most 107 bytes in UTF-8
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
     * Returns the path.
     *
     * @return as given, or null for an abstract name
     */
    public @Nullable Path path() {
        return name.path();
    }

    /** Returns the address as {@code net.family} uses it. */
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
