package io.millrace.netty;

import io.millrace.sys.Descriptor;
import io.millrace.sys.posix.Files;
import io.netty.channel.FileRegion;
import io.netty.util.AbstractReferenceCounted;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A part of a file that a Millrace channel sends by sendfile(2), so that its bytes never enter the process. Other
 * channels can send it, too, as any {@link FileRegion}.
 *
 * <p>Netty's {@code DefaultFileRegion} works as well; made from a {@code File} and on the class path, it is also sent
 * by sendfile, made from a {@code FileChannel} its bytes are copied.
 *
 * <p>The file is opened when the region is created and closed when the region is released, which a write does.
 */
public final class MillraceFileRegion extends AbstractReferenceCounted implements FileRegion {
    private final Path path;
    private final long position;
    private final long count;
    private final @Nullable Descriptor descriptor;
    private @Nullable FileChannel channel;
    private long transferred;

    /**
     * Opens a part of a file.
     *
     * @param path a regular file
     * @param position where the part begins
     * @param count how many bytes it has; the file must have them when they are sent
     * @throws IOException if the file cannot be opened
     */
    public MillraceFileRegion(Path path, long position, long count) throws IOException {
        if (position < 0 || count < 0) {
            throw new IllegalArgumentException(
                    "a position and a count must not be negative: " + position + ", " + count);
        }
        this.path = path;
        this.position = position;
        this.count = count;
        if (Files.isSupported()) {
            this.descriptor = Files.open(path, Set.of(StandardOpenOption.READ));
        } else {
            this.descriptor = null;
            this.channel = FileChannel.open(path, StandardOpenOption.READ);
        }
    }

    @Nullable
    Descriptor descriptor() {
        return descriptor;
    }

    void advance(long bytes) {
        transferred += bytes;
    }

    @Override
    public long position() {
        return position;
    }

    /** The same as {@link #transferred()}. */
    @Override
    @Deprecated
    public long transfered() {
        return transferred;
    }

    @Override
    public long transferred() {
        return transferred;
    }

    @Override
    public long count() {
        return count;
    }

    @Override
    public long transferTo(WritableByteChannel target, long from) throws IOException {
        if (from < 0 || from > count) {
            throw new IllegalArgumentException("a position must be from 0 to " + count + ": " + from);
        }
        FileChannel source = channel;
        if (source == null) {
            source = FileChannel.open(path, StandardOpenOption.READ);
            channel = source;
        }
        long moved = source.transferTo(position + from, count - from, target);
        if (moved == 0 && from < count && source.size() < position + count) {
            throw new IOException("cannot send " + count + " bytes of " + path + " from position " + position
                    + ": it has only " + source.size());
        }
        transferred += moved;
        return moved;
    }

    @Override
    protected void deallocate() {
        if (descriptor != null) {
            descriptor.close();
        }
        FileChannel open = channel;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                // It was only read.
            }
        }
    }

    @Override
    public MillraceFileRegion retain() {
        super.retain();
        return this;
    }

    @Override
    public MillraceFileRegion retain(int increment) {
        super.retain(increment);
        return this;
    }

    @Override
    public MillraceFileRegion touch() {
        return this;
    }

    @Override
    public MillraceFileRegion touch(Object hint) {
        return this;
    }
}
