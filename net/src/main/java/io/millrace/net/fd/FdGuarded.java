package io.millrace.net.fd;

import io.millrace.sys.Descriptor;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Iovecs;
import io.millrace.sys.posix.Fds;
import java.lang.foreign.MemorySegment;

/**
 * The bytes of somebody else's descriptor, which may be one that waits: poll(2) is asked before each call. Where that says that there is room, it may
 * be little, and a larger write would wait.
 */
final class FdGuarded extends FdBytes {
    /** PIPE_BUF: where there is room in a pipe, there is a page of it, and such a write is whole or would block. */
    private static final int PIPE_ROOM = 4096;
    /** A terminal has room for a byte. */
    private static final int TERMINAL_ROOM = 1;

    private final int mostWritten;

    FdGuarded(Descriptor descriptor, Fds.Kind kind) {
        super(descriptor, false);
        this.mostWritten = switch (kind) {
            case PIPE -> PIPE_ROOM;
            case TERMINAL, TERMINAL_MASTER -> TERMINAL_ROOM;
            default -> Iovecs.MAX_BYTES;
        };
    }

    @Override
    int mostWritten() {
        return mostWritten;
    }

    @Override
    long call(boolean reading, CallState state, int fd, long address, int bytes) {
        return reading
                ? Fds.readIfReady(state, fd, address, bytes)
                : Fds.writeIfReady(state, fd, address, Math.min(bytes, mostWritten));
    }

    @Override
    long call(boolean reading, CallState state, int fd, MemorySegment memory, int bytes) {
        return reading
                ? Fds.readIfReady(state, fd, memory, bytes)
                : Fds.writeIfReady(state, fd, memory, Math.min(bytes, mostWritten));
    }

    @Override
    long call(boolean reading, CallState state, int fd, Iovecs memory) {
        return reading ? Fds.readIfReady(state, fd, memory) : Fds.writeIfReady(state, fd, memory);
    }

    @Override
    String callName(boolean reading) {
        return reading ? "read" : "write";
    }
}
