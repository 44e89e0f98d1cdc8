package io.millrace.net.fd;

import io.millrace.net.family.AcceptCalls;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import io.millrace.sys.posix.SocketSetting;
import io.millrace.sys.posix.Sockets;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A listening socket with a descriptor; each call holds a use of it. */
final class FdAcceptor implements AcceptCalls {
    private final Descriptor descriptor;
    private final boolean unix;
    /** The settings that accepted connections do not inherit from the listener, and get here. */
    private final Map<SocketSetting, Integer> settings;

    private final KernelHandle handle;

    FdAcceptor(Descriptor descriptor, boolean unix, Map<SocketSetting, Integer> settings) {
        this.descriptor = descriptor;
        this.unix = unix;
        this.settings = settings;
        this.handle = new KernelHandle(descriptor);
    }

    @Override
    public KernelHandle handle() {
        return handle;
    }

    @Override
    public @Nullable Accepted accept() throws IOException {
        int fd = FdUse.begin(descriptor);
        try {
            Accepted accepted = unix ? acceptUnix(fd) : acceptTcp(fd);
            if (accepted == null) {
                handle.markDrained(Bits.READABLE);
            }
            return accepted;
        } finally {
            descriptor.release();
        }
    }

    private @Nullable Accepted acceptTcp(int fd) throws IOException {
        for (Sockets.Accepted accepted = Sockets.accept(fd); accepted != null; accepted = Sockets.accept(fd)) {
            FdStream stream = new FdStream(accepted.descriptor());
            if (AcceptCalls.takes(stream, settings)) {
                return new Accepted(stream, accepted.remote());
            }
        }
        return null;
    }

    private static @Nullable Accepted acceptUnix(int fd) throws IOException {
        Descriptor accepted = Sockets.acceptUnix(fd);
        return accepted == null ? null : new Accepted(new FdStream(accepted), null);
    }
}
