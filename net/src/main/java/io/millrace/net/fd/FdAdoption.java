package io.millrace.net.fd;

import io.millrace.net.family.ByteCalls;
import io.millrace.sys.Descriptor;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.posix.Fds;
import java.io.IOException;

/**
 * How a descriptor that somebody else opened becomes one of ours. Its flags are never changed, and no call on it waits: sockets are asked not to
 * by each call, pipes and terminals are opened once more with flags of their own, and what cannot be opened again is guarded by poll(2).
 */
public final class FdAdoption {
    /**
     * A descriptor that was adopted.
     *
     * @param kind what it is
     * @param descriptor the number that is used
     * @param calls the caller's to close
     */
    public record Adopted(Fds.Kind kind, Descriptor descriptor, ByteCalls calls) {
        private static Adopted of(Fds.Kind kind, Descriptor descriptor) throws IOException {
            return new Adopted(kind, descriptor, callsOf(kind, descriptor));
        }
    }

    private FdAdoption() {}

    /** By a number of our own for the same file: the given one is neither closed nor used again. */
    public static Adopted adopt(int fd) throws IOException {
        // A number of our own first: whatever is asked of it then is true of it, though its owner may close theirs at
        // any time.
        Descriptor duplicate = new Descriptor(duplicate(fd), false);
        boolean kept = false;
        try {
            Fds.Kind kind = Fds.kind(duplicate.fd());
            int reopened = kind.canBeReopened() ? Fds.reopen(duplicate.fd()) : -1;
            kept = reopened < 0;
            return Adopted.of(kind, kept ? duplicate : new Descriptor(reopened, false));
        } finally {
            if (!kept) {
                duplicate.close();
            }
        }
    }

    /** The number itself, which is ours from now on; if this call throws it remains the caller's. */
    public static Adopted own(int fd) throws IOException {
        Fds.Kind kind = kindOf(fd);
        int reopened = kind.canBeReopened() && !Fds.isNonBlocking(fd) ? Fds.reopen(fd) : -1;
        if (reopened >= 0) {
            Fds.replace(fd, reopened);
        } else {
            Fds.setCloseOnExec(fd);
        }
        return Adopted.of(kind, new Descriptor(fd, false));
    }

    /** The calls on a descriptor that may be one that waits and cannot be asked not to. */
    public static ByteCalls guarded(Descriptor descriptor, Fds.Kind kind) {
        return new FdGuarded(descriptor, kind);
    }

    /** How to move bytes without a wait. */
    private static ByteCalls callsOf(Fds.Kind kind, Descriptor descriptor) throws IOException {
        return switch (kind) {
            case SOCKET, DATAGRAM -> new FdForeignSocket(descriptor);
            case REGULAR, ALWAYS_READY -> new FdPipe(descriptor, true);
            case PIPE, TERMINAL, TERMINAL_MASTER, OTHER ->
                Fds.isNonBlocking(descriptor.fd()) ? new FdPipe(descriptor, false) : guarded(descriptor, kind);
        };
    }

    private static int duplicate(int fd) throws IOException {
        try {
            return Fds.duplicate(fd);
        } catch (ErrnoException e) {
            throw notOpen(fd, e);
        }
    }

    private static Fds.Kind kindOf(int fd) throws IOException {
        try {
            return Fds.kind(fd);
        } catch (ErrnoException e) {
            throw notOpen(fd, e);
        }
    }

    /** Throws what it should be, or answers what it is. */
    private static ErrnoException notOpen(int fd, ErrnoException e) {
        if (e.is(Errno.EBADF)) {
            throw new IllegalArgumentException(
                    "cannot adopt fd " + fd + ": not an open file descriptor; open it first, and do not close it yet",
                    e);
        }
        return e;
    }
}
