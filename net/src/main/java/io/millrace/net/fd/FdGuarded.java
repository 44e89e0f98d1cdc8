package io.millrace.net.fd;

import io.millrace.sys.Descriptor;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Iovecs;
import io.millrace.sys.posix.Fds;
import java.lang.foreign.MemorySegment;

/**
 * Moves the bytes of a descriptor that other code opened and that may block: poll(2) is called before each call. Even
 * if it reports room, there may be only a little, and a larger write would block.
 */
final class FdGuarded extends FdBytes {
    /** PIPE_BUF: if there is room in a pipe, there is at least a page, and such a write is atomic. */
    private static final int PIPE_ROOM = 4096;
    /** A terminal is only sure to have room for one byte. */
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
