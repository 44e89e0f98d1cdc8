package io.millrace.net;

import io.millrace.poll.internal.OsHandle;
import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import io.millrace.sys.Sockets;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import org.jspecify.annotations.Nullable;

/** A listening socket as a descriptor; each call holds a use of it. */
final class FdAcceptor implements TcpAcceptor {
    private final Descriptor descriptor;
    private final OsHandle handle;

    FdAcceptor(Descriptor descriptor) {
        this.descriptor = descriptor;
        this.handle = new OsHandle(descriptor);
    }

    @Override
    public OsHandle handle() {
        return handle;
    }

    @Override
    public @Nullable TcpStream accept() throws IOException {
        if (!descriptor.acquire()) {
            throw new ClosedChannelException();
        }
        try {
            Sockets.Accepted accepted = Sockets.accept(descriptor.fd());
            if (accepted == null) {
                handle.drained(Bits.READABLE);
                return null;
            }
            return new TcpStream(new FdTcp(accepted.descriptor()), accepted.remote(), true);
        } finally {
            descriptor.release();
        }
    }
}
