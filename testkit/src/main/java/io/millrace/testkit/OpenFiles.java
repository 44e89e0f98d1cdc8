package io.millrace.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Counts this process's descriptors of the kinds that an event engine opens: sockets, pipes, epoll instances and
 * eventfds. Files and jars, which the JVM opens and closes at will, are left out.
 */
public final class OpenFiles {
    private static final Path TABLE = Path.of("/proc/self/fd");

    private OpenFiles() {}

    /**
     * Returns whether this system supports it; Linux does.
     *
     * @return true if {@link #count} works
     */
    public static boolean canBeCounted() {
        return Files.isDirectory(TABLE);
    }

    /**
     * Counts what is open now.
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

    /**
     * Returns whether nothing was left open since a count. Fewer may be open: what other tests have left behind may be
     * closed at any time.
     *
     * @param before an earlier {@link #count}
     * @return true if there are no more of any kind than before
     */
    public static boolean areNoMoreThan(Map<String, Integer> before) {
        return count().entrySet().stream().allMatch(now -> now.getValue() <= before.getOrDefault(now.getKey(), 0));
    }

    /** Returns the numbers of this process's pipes. */
    static Set<Integer> pipes() {
        Set<Integer> numbers = new TreeSet<>();
        try (DirectoryStream<Path> links = Files.newDirectoryStream(TABLE)) {
            for (Path link : links) {
                if (kind(link).equals("pipe")) {
                    numbers.add(Integer.parseInt(link.getFileName().toString()));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + TABLE, e);
        }
        return numbers;
    }

    /** Returns which of the two ends of a pipe is for reading, by the flags of the open file. */
    static int readingEnd(Set<Integer> ends) {
        for (int end : ends) {
            try {
                String flags = Files.readAllLines(Path.of("/proc/self/fdinfo", String.valueOf(end))).stream()
                        .filter(line -> line.startsWith("flags:"))
                        .findFirst()
                        .orElseThrow();
                if (flags.endsWith("0")) { // O_RDONLY; 1 is O_WRONLY
                    return end;
                }
            } catch (IOException e) {
                throw new UncheckedIOException("cannot read the flags of fd " + end, e);
            }
        }
        throw new AssertionError("none of " + ends + " can be read");
    }

    /** Returns {@code socket} for {@code socket:[4026]}, and {@code [eventpoll]} for {@code anon_inode:[eventpoll]}. */
    private static String kind(Path link) throws IOException {
        String target;
        try {
            target = Files.readSymbolicLink(link).toString();
        } catch (NoSuchFileException e) {
            return ""; // closed since the directory was read; for example, the directory's own descriptor
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
