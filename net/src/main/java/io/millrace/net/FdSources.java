package io.millrace.net;

import io.millrace.sys.Descriptor;
import io.millrace.sys.ErrnoException;
import io.millrace.sys.Pipes;
import io.millrace.sys.Sockets;
import java.io.IOException;
import java.net.InetSocketAddress;

/** Sources that are file descriptors. */
final class FdSources implements Sources {
    @Override
    public TcpListener listen(InetSocketAddress address, int backlog) throws IOException {
        Descriptor descriptor;
        try {
            descriptor = Sockets.listen(address, backlog);
        } catch (ErrnoException e) {
            throw Failures.listen(address, e);
        }
        try {
            return new TcpListener(new FdAcceptor(descriptor), Sockets.localAddress(descriptor.fd()));
        } catch (ErrnoException e) {
            descriptor.close();
            throw e;
        }
    }

    @Override
    public TcpStream connect(InetSocketAddress address) throws IOException {
        try {
            Sockets.Connecting connecting = Sockets.connect(address);
            return new TcpStream(new FdTcp(connecting.descriptor()), address, connecting.connected());
        } catch (ErrnoException e) {
            throw Failures.connect(address, e);
        }
    }

    @Override
    public Pipe pipe() throws IOException {
        Pipes.Ends ends = Pipes.open();
        return new Pipe(new FdBytes(ends.reader(), FdBytes.Kind.PIPE), new FdBytes(ends.writer(), FdBytes.Kind.PIPE));
    }

    @Override
    public String toString() {
        return "descriptors";
    }
}
