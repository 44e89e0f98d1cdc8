package io.millrace.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * This process's descriptors of the kinds that an event engine opens: sockets, pipes, epoll instances and eventfds, counted by kind.
 * Files and jars, which the JVM opens and closes as it likes, are left out.
 */
public final class OpenFiles {
    private static final Path TABLE = Path.of("/proc/self/fd");

    private OpenFiles() {}

    /**
     * Whether this system can tell; Linux can.
     *
     * @return true if {@link #count} works
     */
    public static boolean canBeCounted() {
        return Files.isDirectory(TABLE);
    }

    /**
     * What is open now.
     *
     * @return how many there are of each kind: {@code socket}, {@code pipe}, {@code [eventpoll]}, {@code [eventfd]}, …
     */
    public static Map<String, Integer> count() {
        Map<String, Integer> counts = new TreeMap<>();
        try (DirectoryStream<Path> links = Files.newDirectoryStream(TABLE)) {
            for (Path link : links) {
                String kind = kind(link);
                if (!kind.isEmpty()) {
                    counts.merge(kind, 1, Integer::sum);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + TABLE, e);
        }
        return counts;
    }

    /** {@code socket:[4026]} is a socket, {@code anon_inode:[eventpoll]} an [eventpoll]. */
    private static String kind(Path link) throws IOException {
        String target;
        try {
            target = Files.readSymbolicLink(link).toString();
        } catch (NoSuchFileException e) {
            return ""; // closed since the directory was read, e.g. the directory's own descriptor
        }
        if (target.startsWith("socket:")) {
            return "socket";
        }
        if (target.startsWith("pipe:")) {
            return "pipe";
        }
        return target.startsWith("anon_inode:") ? target.substring("anon_inode:".length()) : "";
    }
}
