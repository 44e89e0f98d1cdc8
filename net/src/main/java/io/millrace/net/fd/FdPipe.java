package io.millrace.net.fd;

import io.millrace.sys.Descriptor;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Iovecs;
import io.millrace.sys.posix.Pipes;
import java.lang.foreign.MemorySegment;

/**
 * Moves the bytes of a pipe, or of another descriptor that never blocks, because it is non-blocking or always ready.
 */
final class FdPipe extends FdBytes {
    FdPipe(Descriptor descriptor, boolean alwaysReady) {
        super(descriptor, alwaysReady);
    }

    @Override
    long call(boolean reading, CallState state, int fd, long address, int bytes) {
        return reading ? Pipes.read(state, fd, address, bytes) : Pipes.write(state, fd, address, bytes);
    }

    @Override
    long call(boolean reading, CallState state, int fd, MemorySegment memory, int bytes) {
        return reading ? Pipes.read(state, fd, memory, bytes) : Pipes.write(state, fd, memory, bytes);
    }

    @Override
    long call(boolean reading, CallState state, int fd, Iovecs memory) {
        return reading ? Pipes.read(state, fd, memory) : Pipes.write(state, fd, memory);
    }

    @Override
    String callName(boolean reading) {
        return reading ? "read" : "write";
    }
}
