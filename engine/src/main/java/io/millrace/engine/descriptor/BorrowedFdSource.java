package io.millrace.engine.descriptor;

import io.millrace.poll.Poll;
import io.millrace.poll.Source;
import io.millrace.poll.SourceHandle;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Descriptor;

/** A source for a descriptor that the user passed by number. The engine uses it until the user takes it back, and never closes it. */
public final class BorrowedFdSource implements Source, AutoCloseable {
    private final KernelHandle handle;

    private BorrowedFdSource(KernelHandle handle) {
        this.handle = handle;
    }

    public static BorrowedFdSource of(int fd, Poll poll) {
        if (fd < 0) {
            throw new IllegalArgumentException("cannot register fd " + fd + ": a file descriptor is not negative");
        }
        if (poll.backend().equals("nio")) {
            throw new UnsupportedOperationException("cannot register fd " + fd
                    + ": the backend nio has channels and no descriptors; register the source, or take a"
                    + " native backend");
        }
        return new BorrowedFdSource(new KernelHandle(new Descriptor(fd, false)));
    }

    @Override
    public SourceHandle handle() {
        return handle;
    }

    /** Returns the descriptor's number, or −1 if {@code source} has none. */
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
