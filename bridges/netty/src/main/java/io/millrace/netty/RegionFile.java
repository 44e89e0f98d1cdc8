package io.millrace.netty;

import io.millrace.sys.Descriptor;
import io.millrace.sys.posix.Files;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.FileRegion;
import java.io.File;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The file of a region that is being sent, as a descriptor for sendfile(2).
 *
 * <p>A {@link MillraceFileRegion} has one. A {@link DefaultFileRegion} made from a {@link File} is opened here by its
 * name, if its private fields can be read: on the class path, or on the module path with {@code --add-opens
 * io.netty.transport/io.netty.channel=io.millrace.netty}. One made from a {@code FileChannel} has a descriptor that the
 * JDK does not give away.
 */
final class RegionFile {
    private final FileRegion region;
    private final Descriptor descriptor;
    /** Whether the descriptor was opened here. */
    private final boolean owned;

    private RegionFile(FileRegion region, Descriptor descriptor, boolean owned) {
        this.region = region;
        this.descriptor = descriptor;
        this.owned = owned;
    }

    /** Returns null if the bytes must pass through the process. */
    static @Nullable RegionFile open(FileRegion region) throws IOException {
        if (region instanceof MillraceFileRegion ours) {
            Descriptor descriptor = ours.descriptor();
            return descriptor == null ? null : new RegionFile(region, descriptor, false);
        }
        if (region.getClass() != DefaultFileRegion.class || !Files.isSupported() || Fields.FILE == null) {
            return null;
        }
        File file = (File) Fields.FILE.get((DefaultFileRegion) region);
        return file == null
                ? null
                : new RegionFile(region, Files.open(file.toPath(), Set.of(StandardOpenOption.READ)), true);
    }

    FileRegion region() {
        return region;
    }

    int fd() {
        return descriptor.fd();
    }

    /** Counts what was sent, in the region itself. */
    void advance(long bytes) {
        if (region instanceof MillraceFileRegion ours) {
            ours.advance(bytes);
        } else if (Fields.TRANSFERRED != null) {
            Fields.TRANSFERRED.set((DefaultFileRegion) region, region.transferred() + bytes);
        }
    }

    void close() {
        if (owned) {
            descriptor.close();
        }
    }

    private static final class Fields {
        static final @Nullable VarHandle FILE = field("f", File.class);
        static final @Nullable VarHandle TRANSFERRED = FILE == null ? null : field("transferred", long.class);

        private static @Nullable VarHandle field(String name, Class<?> type) {
            try {
                return MethodHandles.privateLookupIn(DefaultFileRegion.class, MethodHandles.lookup())
                        .findVarHandle(DefaultFileRegion.class, name, type);
            } catch (ReflectiveOperationException | RuntimeException e) {
                return null;
            }
        }
    }
}
