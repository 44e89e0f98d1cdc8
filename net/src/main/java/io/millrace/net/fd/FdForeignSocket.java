package io.millrace.net.fd;

import io.millrace.sys.Descriptor;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Iovecs;
import io.millrace.sys.posix.Fds;
import java.lang.foreign.MemorySegment;

/** Moves the bytes of a socket that other code opened and that may block: each call says that it must not. */
final class FdForeignSocket extends FdBytes {
    FdForeignSocket(Descriptor descriptor) {
        super(descriptor, false);
    }

    @Override
    long call(boolean reading, CallState state, int fd, long address, int bytes) {
        return reading ? Fds.receiveNow(state, fd, address, bytes) : Fds.sendNow(state, fd, address, bytes);
    }

    @Override
    long call(boolean reading, CallState state, int fd, MemorySegment memory, int bytes) {
        return reading ? Fds.receiveNow(state, fd, memory, bytes) : Fds.sendNow(state, fd, memory, bytes);
    }

    @Override
    long call(boolean reading, CallState state, int fd, Iovecs memory) {
        return reading ? Fds.receiveNow(state, fd, memory) : Fds.sendNow(state, fd, memory);
    }

    @Override
    String callName(boolean reading) {
        return reading ? "recv" : "send";
    }
}
