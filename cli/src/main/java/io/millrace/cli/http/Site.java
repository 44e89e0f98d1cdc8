package io.millrace.cli.http;

import io.millrace.net.FileSource;
import io.millrace.net.Io;
import io.millrace.net.Net;
import io.millrace.poll.Clock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The files of a directory. None outside it is ever served: the names of a {@link Target} cannot lead upwards, and a file
 * is asked where it really is when it is open, because until then it can be swapped for a link.
 *
 * <p>Short files are kept for a second with their content, so that a file that many want is not opened for each of
 * them. Whoever changes one must wait as long until everybody sees it.
 */
final class Site {
    /**
     * What there is at a target. Its size, time and content are those of one open file, whatever is at its path meanwhile.
     *
     * @param size in bytes
     * @param modifiedSecond since 1970
     * @param tag tells versions of it apart
     * @param content of a short file
     * @param file a long file, open; whoever asked for it must send or close it
     */
    record Resource(
            String type,
            long size,
            long modifiedSecond,
            String tag,
            @Nullable ByteBuffer content,
            @Nullable FileSource file) {}

    /** A directory without an index. */
    record Listing(List<String> names, boolean isComplete) {}

    private record Kept(Resource resource, long untilNanos) {}

    private static final String SEPARATOR = FileSystems.getDefault().getSeparator();
    private static final int SHORT = 16 << 10;
    static final int MOST_KEPT = 1024;
    private static final long KEPT_NANOS = TimeUnit.SECONDS.toNanos(1);
    static final int MOST_LISTED = 5000;

    private final Path root;
    private final Clock clock;
    private final ConcurrentHashMap<String, Kept> kept = new ConcurrentHashMap<>();

    /**
     * Opens a site.
     *
     * @throws IOException if there is no such directory
     */
    Site(Path directory) throws IOException {
        this(directory, Clock.system());
    }

    Site(Path directory, Clock clock) throws IOException {
        if (!Files.isDirectory(directory)) {
            throw new IOException("cannot serve " + directory + ": there is no such directory");
        }
        this.root = directory.toRealPath();
        this.clock = clock;
    }

    /** Returns a short file that was found for the same text a moment ago; or null. */
    @Nullable
    Resource recent(String target) {
        Kept found = kept.get(target);
        return found != null && found.untilNanos - clock.nanoTime() > 0 ? found.resource : null;
    }

    /**
     * Finds what there is.
     *
     * @param text by which a short file can be found again
     * @return a {@link Resource} or a {@link Listing}
     * @throws HttpException if there is nothing, or nothing that may be served; or a directory, and the target says a
     *     file
     * @throws IOException if it cannot be read, which is not for the client to mend
     */
    Object find(Target target, String text) throws HttpException, IOException {
        try {
            Path path = root.resolve(String.join("/", target.names()));
            if (target.isDirectory()) {
                return inDirectory(within(path.toRealPath()), text);
            }
            if (Files.isDirectory(path)) {
                within(path.toRealPath());
                throw new HttpException(Status.MOVED_PERMANENTLY, target.encoded() + "/");
            }
            return resource(path, text);
        } catch (InvalidPathException | FileSystemException e) {
            throw missing(); // not there, no directory, too long, a loop of links, or not ours to read
        }
    }

    private Object inDirectory(Path directory, String text) throws HttpException, IOException {
        Path index = directory.resolve("index.html");
        return Files.exists(index) ? resource(index, text) : list(directory);
    }

    /** Checks where something really is. Nothing within may be hidden, not even if a link leads to it. */
    private Path within(Path real) throws HttpException {
        if (!real.equals(root) && (!real.startsWith(root) || isHidden(real.toString()))) {
            throw missing();
        }
        return real;
    }

    private boolean isHidden(String real) {
        return real.indexOf(
                        SEPARATOR + ".",
                        root.getNameCount() == 0 ? 0 : root.toString().length())
                >= 0;
    }

    private static HttpException missing() {
        return new HttpException(Status.NOT_FOUND, "there is no such file");
    }

    /** Opens a file: neither a pipe nor a device, which would block the loop; and keeps its content, if that is short. */
    private Resource resource(Path path, String text) throws IOException, HttpException {
        FileSource file = Net.standard().file(path, StandardOpenOption.READ);
        boolean handedOn = false;
        try {
            Path real = within(file.realPath());
            Instant modified = file.modified(); // before its content: a tag may be too old for that, but never too new
            long size = file.size();
            ByteBuffer content = size <= SHORT ? read(file, (int) size) : null;
            Resource resource = new Resource(
                    MimeTypes.of(real.getFileName().toString()),
                    content == null ? size : content.limit(),
                    modified.getEpochSecond(),
                    tag(modified, content == null ? size : content.limit()),
                    content,
                    content == null ? file : null);
            if (content != null) {
                keep(text, resource);
            }
            handedOn = content == null;
            return resource;
        } finally {
            if (!handedOn) {
                file.close();
            }
        }
    }

    /** Returns the content, which may have become shorter meanwhile; or longer, of which it has one byte more at most. */
    private static ByteBuffer read(FileSource file, int size) throws IOException {
        ByteBuffer content = ByteBuffer.allocate(size + 1); // so that the end is met
        while (content.hasRemaining() && file.tryRead(content) != Io.EOF) {
            // on it goes
        }
        return content.flip().asReadOnlyBuffer();
    }

    private static String tag(Instant modified, long size) {
        long nanos = TimeUnit.SECONDS.toNanos(modified.getEpochSecond()) + modified.getNano();
        return "\"" + Long.toHexString(nanos) + "-" + Long.toHexString(size) + "\"";
    }

    private void keep(String text, Resource resource) {
        if (kept.size() >= MOST_KEPT) {
            kept.clear();
        }
        kept.put(text, new Kept(resource, clock.nanoTime() + KEPT_NANOS));
    }

    /** Lists what would be served, if it is not too much: the loop waits meanwhile. */
    private Listing list(Path directory) throws IOException {
        List<String> names = new ArrayList<>();
        boolean complete = true;
        try (DirectoryStream<Path> entries = entries(directory)) {
            for (Path each : entries) {
                if (names.size() == MOST_LISTED) {
                    complete = false;
                    break;
                }
                String name = each.getFileName().toString();
                BasicFileAttributes found = Target.isServed(name) ? look(each) : null;
                if (found != null && found.isDirectory()) {
                    names.add(name + "/");
                } else if (found != null && found.isRegularFile()) {
                    names.add(name);
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        names.sort(null);
        return new Listing(names, complete);
    }

    @SuppressWarnings("StreamResourceLeak") // the caller closes it
    private static DirectoryStream<Path> entries(Path directory) throws IOException {
        try {
            return Files.newDirectoryStream(directory);
        } catch (AccessDeniedException | NoSuchFileException | NotDirectoryException e) {
            throw e;
        } catch (FileSystemException e) {
            throw new IOException("cannot list a directory: " + e.getMessage(), e); // too many files are open
        }
    }

    /** Returns what an entry is, or where it leads; null if that is nowhere, or outside. */
    private @Nullable BasicFileAttributes look(Path entry) {
        try {
            BasicFileAttributes found =
                    Files.readAttributes(entry, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            return found.isSymbolicLink()
                    ? Files.readAttributes(within(entry.toRealPath()), BasicFileAttributes.class)
                    : found;
        } catch (IOException | HttpException e) {
            return null;
        }
    }
}
