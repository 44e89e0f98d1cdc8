package io.millrace.net;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/** What {@code /proc} says of this process: its descriptors, their flags, its children. Linux only. */
final class ProcFs {
    private static final Path FDS = Path.of("/proc/self/fd");
    private static final int O_NONBLOCK = 04000;
    private static final int O_CLOEXEC = 02000000;

    private ProcFs() {}

    /** Runs something that opens a descriptor, and answers the number of the new one whose link begins so. */
    static int opened(String target, Callable<?> opener) throws Exception {
        Map<Integer, String> before = open();
        opener.call();
        return open().entrySet().stream()
                .filter(entry -> !entry.getValue().equals(before.get(entry.getKey())))
                .filter(entry -> entry.getValue().startsWith(target))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no descriptor of " + target + " was opened"))
                .getKey();
    }

    /** The open descriptors and what they are. */
    static Map<Integer, String> open() throws IOException {
        Map<Integer, String> found = new TreeMap<>();
        try (DirectoryStream<Path> links = Files.newDirectoryStream(FDS)) {
            for (Path link : links) {
                String target = targetOf(link);
                if (!target.isEmpty()) {
                    found.put(Integer.valueOf(link.getFileName().toString()), target);
                }
            }
        }
        return found;
    }

    /** Empty for the descriptor of the directory itself, which is gone. */
    private static String targetOf(Path link) throws IOException {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (NoSuchFileException e) {
            return "";
        }
    }

    static boolean isOpen(int fd) {
        return Files.exists(FDS.resolve(Integer.toString(fd)), LinkOption.NOFOLLOW_LINKS);
    }

    /** Of the open file, in octal, as the kernel prints them. */
    static int flags(int fd) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/fdinfo/" + fd)).stream()
                .filter(line -> line.startsWith("flags:"))
                .map(line -> Integer.parseInt(line.substring("flags:".length()).strip(), 8))
                .findFirst()
                .orElseThrow();
    }

    static boolean isNonBlocking(int fd) throws IOException {
        return (flags(fd) & O_NONBLOCK) != 0;
    }

    static boolean isCloseOnExec(int fd) throws IOException {
        return (flags(fd) & O_CLOEXEC) != 0;
    }

    /** The processes whose parent this one is, zombies included, with their states. */
    static Map<Long, Character> children() throws IOException {
        long self = ProcessHandle.current().pid();
        Map<Long, Character> found = new TreeMap<>();
        try (Stream<Path> entries = Files.list(Path.of("/proc"))) {
            for (Path entry : entries.filter(
                            path -> path.getFileName().toString().chars().allMatch(Character::isDigit))
                    .toList()) {
                String stat;
                try {
                    stat = Files.readString(entry.resolve("stat"));
                } catch (IOException e) {
                    continue; // gone since
                }
                // pid (name) state ppid …; the name may contain anything.
                String[] rest = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
                if (Long.parseLong(rest[1]) == self) {
                    found.put(Long.valueOf(entry.getFileName().toString()), rest[0].charAt(0));
                }
            }
        }
        return found;
    }
}
