package io.millrace.net;

import io.millrace.sys.Descriptor;
import io.millrace.sys.SocketSetting;
import io.millrace.sys.Sockets;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;

/** A connection as a descriptor; each call holds a use of it. */
final class FdStream implements StreamTransport {
    private final Descriptor descriptor;
    private final FdBytes bytes;

    FdStream(Descriptor descriptor) {
        this.descriptor = descriptor;
        this.bytes = new FdBytes(descriptor, FdBytes.Kind.SOCKET);
    }

    @Override
    public FdBytes bytes() {
        return bytes;
    }

    @Override
    public boolean finishConnect() throws IOException {
        int fd = use();
        try {
            return Sockets.finishConnect(fd);
        } finally {
            descriptor.release();
        }
    }

    @Override
    public void shutdownInput() throws IOException {
        int fd = use();
        try {
            Sockets.shutdownInput(fd);
        } finally {
            descriptor.release();
        }
    }

    @Override
    public void shutdownOutput() throws IOException {
        int fd = use();
        try {
            Sockets.shutdownOutput(fd);
        } finally {
            descriptor.release();
        }
    }

    @Override
    public long send(FileTransport file, long position, long count) throws IOException {
        if (file instanceof FdFile descriptors) {
            long sent = bytes.send(descriptors, position, count);
            if (sent != FdBytes.NOT_THIS_WAY) {
                return sent;
            }
        }
        return FileTransport.copy(file, position, count, bytes);
    }

    @Override
    public int get(SocketSetting setting) throws IOException {
        int fd = use();
        try {
            return setting.get(fd);
        } finally {
            descriptor.release();
        }
    }

    @Override
    public void set(SocketSetting setting, int value) throws IOException {
        int fd = use();
        try {
            setting.set(fd, value);
        } finally {
            descriptor.release();
        }
    }

    @Override
    public InetSocketAddress localAddress() throws IOException {
        int fd = use();
        try {
            return Sockets.localAddress(fd);
        } finally {
            descriptor.release();
        }
    }

    private int use() throws ClosedChannelException {
        if (!descriptor.acquire()) {
            throw new ClosedChannelException();
        }
        return descriptor.fd();
    }
}
