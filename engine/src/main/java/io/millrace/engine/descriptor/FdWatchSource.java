package io.millrace.engine.descriptor;

import io.millrace.poll.Poll;
import io.millrace.poll.Source;
import io.millrace.poll.SourceHandle;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Descriptor;

/** A descriptor of the user's, by its number, as a source. It is the engine's until it is given back. */
public final class FdWatchSource implements Source, AutoCloseable {
    private final KernelHandle handle;

    private FdWatchSource(KernelHandle handle) {
        this.handle = handle;
    }

    public static FdWatchSource of(int fd, Poll poll) {
        if (fd < 0) {
            throw new IllegalArgumentException("cannot register fd " + fd + ": a file descriptor is not negative");
        }
        if (poll.backend().equals("nio")) {
            throw new UnsupportedOperationException("cannot register fd " + fd
                    + ": the backend nio has channels and no descriptors; register the source, or take a"
                    + " native backend");
        }
        return new FdWatchSource(new KernelHandle(new Descriptor(fd, false)));
    }

    @Override
    public SourceHandle handle() {
        return handle;
    }

    /** The number of a source, or −1. */
    static int numberOf(Source source) {
        return source.handle() instanceof KernelHandle os && os.system() instanceof Descriptor descriptor
                ? descriptor.fd()
                : -1;
    }

    @Override
    public void close() {
        handle.close();
    }

    @Override
    public String toString() {
        return handle.toString();
    }
}
