package io.millrace.net.fd;

import io.millrace.net.family.ByteCalls;
import io.millrace.sys.Descriptor;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.posix.Fds;
import java.io.IOException;

/**
 * Makes a source from a descriptor that other code opened. Its flags are never changed, and no call on it waits: each
 * call on a socket says that it must not block; pipes and terminals are opened again with separate flags; and what
 * cannot be opened again is guarded by poll(2).
 */
public final class FdAdoption {
    /**
     * An adopted descriptor.
     *
     * @param kind what it is
     * @param descriptor the descriptor to use
     * @param calls must be closed by the caller
     */
    public record Adopted(Fds.Kind kind, Descriptor descriptor, ByteCalls calls) {
        private static Adopted of(Fds.Kind kind, Descriptor descriptor) throws IOException {
            return new Adopted(kind, descriptor, callsOf(kind, descriptor));
        }
    }

    private FdAdoption() {}

    /** Adopts a descriptor by duplicating it: the given number is neither closed nor used again. */
    public static Adopted adopt(int fd) throws IOException {
        // Duplicate first, so that what is found out about the file stays true even if its owner closes theirs.
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

    /** Takes over the number itself; if this call throws, it still belongs to the caller. */
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

    /** Returns the calls for a descriptor that may block and cannot be told not to. */
    public static ByteCalls guarded(Descriptor descriptor, Fds.Kind kind) {
        return new FdGuarded(descriptor, kind);
    }

    /** Returns the calls that move bytes without blocking. */
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

    /** Throws the right exception for a descriptor that is not open, or returns the given one. */
    private static ErrnoException notOpen(int fd, ErrnoException e) {
        if (e.is(Errno.EBADF)) {
            throw new IllegalArgumentException(
                    "cannot adopt fd " + fd + ": not an open file descriptor; open it first, and do not close it yet",
                    e);
        }
        return e;
    }
}
