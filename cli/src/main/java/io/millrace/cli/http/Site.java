package io.millrace.cli.http;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The files of a directory. None outside it is ever opened: the names of a {@link Target} cannot lead upwards, and where
 * a link leads is found out before the file is used.
 *
 * <p>Short files are kept for a second with their content, so that a file that many want is not opened for each of
 * them. Whoever changes one must wait as long until everybody sees it.
 */
final class Site {
    /**
     * What there is at a target.
     *
     * @param path where it really is
     * @param size in bytes
     * @param modifiedSecond since 1970
     * @param tag tells versions of it apart
     * @param content null for a long file
     */
    record Resource(
            Path path,
            String type,
            long size,
            long modifiedSecond,
            String tag,
            @Nullable ByteBuffer content) {}

    /** A directory without an index. */
    record Listing(List<String> names) {}

    private record Kept(Resource resource, long untilNanos) {}

    private static final int SHORT = 16 << 10;
    private static final int MOST_KEPT = 1024;
    private static final long KEPT_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MOST_LISTED = 10_000;

    private final Path root;
    private final ConcurrentHashMap<String, Kept> kept = new ConcurrentHashMap<>();

    /**
     * Opens a site.
     *
     * @throws IOException if there is no such directory
     */
    Site(Path directory) throws IOException {
        this.root = directory.toRealPath();
        if (!Files.isDirectory(root)) {
            throw new IOException("cannot serve " + directory + ": it is not a directory");
        }
    }

    /** Returns a short file that was found for the same text a moment ago; or null. */
    @Nullable
    Resource recent(String target) {
        Kept found = kept.get(target);
        return found != null && found.untilNanos - System.nanoTime() > 0 ? found.resource : null;
    }

    /**
     * Finds what there is.
     *
     * @param text by which a short file can be found again
     * @return a {@link Resource} or a {@link Listing}
     * @throws HttpException if there is nothing, or nothing that may be served; or a directory, and the target says a
     *     file
     */
    Object find(Target target, String text) throws HttpException {
        try {
            Path path = root;
            for (String name : target.names()) {
                path = path.resolve(name);
            }
            Path real = within(path.toRealPath());
            BasicFileAttributes found = Files.readAttributes(real, BasicFileAttributes.class);
            if (!found.isDirectory()) {
                if (target.isDirectory()) {
                    throw missing();
                }
                return resource(real, found, text);
            }
            if (!target.isDirectory()) {
                throw new HttpException(Status.MOVED_PERMANENTLY, target.encoded() + "/");
            }
            Path index = real.resolve("index.html");
            if (!Files.exists(index)) {
                return new Listing(list(real));
            }
            Path realIndex = within(index.toRealPath());
            return resource(realIndex, Files.readAttributes(realIndex, BasicFileAttributes.class), text);
        } catch (InvalidPathException | FileSystemException e) {
            throw missing(); // not there, no directory, too long, a loop of links, or not ours to read
        } catch (IOException e) {
            throw new HttpException(Status.INTERNAL_ERROR, "the file cannot be read");
        }
    }

    private Path within(Path real) throws HttpException {
        if (!real.startsWith(root)) {
            throw missing();
        }
        for (Path name : root.relativize(real)) {
            if (name.toString().startsWith(".")) {
                throw missing(); // a link to what is hidden
            }
        }
        return real;
    }

    private static HttpException missing() {
        return new HttpException(Status.NOT_FOUND, "there is no such file");
    }

    private Resource resource(Path real, BasicFileAttributes found, String text) throws IOException, HttpException {
        if (!found.isRegularFile()) {
            throw missing(); // a pipe or a device would block the loop
        }
        long nanos = found.lastModifiedTime().to(TimeUnit.NANOSECONDS);
        long size = found.size();
        ByteBuffer content = null;
        if (size <= SHORT) {
            try (InputStream in = Files.newInputStream(real)) {
                byte[] read = in.readNBytes(SHORT + 1);
                content =
                        read.length > SHORT ? null : ByteBuffer.wrap(read).asReadOnlyBuffer(); // it may just be growing
                size = content == null ? Files.size(real) : read.length;
            }
        }
        Resource resource = new Resource(
                real,
                MimeTypes.of(real.getFileName().toString()),
                size,
                found.lastModifiedTime().to(TimeUnit.SECONDS),
                "\"" + Long.toHexString(nanos) + "-" + Long.toHexString(size) + "\"",
                content);
        if (content != null) {
            if (kept.size() >= MOST_KEPT) {
                kept.clear();
            }
            kept.put(text, new Kept(resource, System.nanoTime() + KEPT_NANOS));
        } else if (!Files.isReadable(real)) {
            throw missing();
        }
        return resource;
    }

    private List<String> list(Path directory) throws IOException {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path each : entries) {
                String name = each.getFileName().toString();
                if (!name.startsWith(".") && names.size() < MOST_LISTED && isServed(each)) {
                    names.add(Files.isDirectory(each) ? name + "/" : name);
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        names.sort(null);
        return names;
    }

    /** Only a link can lead elsewhere. */
    private boolean isServed(Path entry) {
        if (!Files.isSymbolicLink(entry)) {
            return true;
        }
        try {
            within(entry.toRealPath());
            return true;
        } catch (IOException | HttpException e) {
            return false;
        }
    }
}
