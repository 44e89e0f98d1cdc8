package io.millrace.conformance;

import io.millrace.server.TcpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A socket of the JDK at a path, as far as the tests use one. */
final class UnixSocket extends Socket {
    private final SocketChannel channel;
    private volatile boolean outputEnded;

    UnixSocket(Path path) throws IOException {
        this.channel = SocketChannel.open(UnixDomainSocketAddress.of(path));
    }

    /** Connects to a server, over TCP or at its path. */
    static Socket connect(TcpServer server) throws IOException {
        if (server.unixAddress() != null) {
            return new UnixSocket(Objects.requireNonNull(server.unixAddress().path()));
        }
        Socket socket = new Socket();
        try {
            socket.setReceiveBufferSize(64 << 10);
            socket.setTcpNoDelay(true);
            socket.connect(server.address());
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    @Override
    public InputStream getInputStream() {
        return new InputStream() {
            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte @Nullable [] into, int offset, int length) throws IOException {
                return length == 0 ? 0 : channel.read(ByteBuffer.wrap(Objects.requireNonNull(into), offset, length));
            }
        };
    }

    @Override
    public OutputStream getOutputStream() {
        return new OutputStream() {
            @Override
            public void write(int one) throws IOException {
                write(new byte[] {(byte) one}, 0, 1);
            }

            @Override
            public void write(byte @Nullable [] from, int offset, int length) throws IOException {
                ByteBuffer buffer = ByteBuffer.wrap(Objects.requireNonNull(from), offset, length);
                while (buffer.hasRemaining()) {
                    channel.write(buffer);
                }
            }
        };
    }

    @Override
    public void setSoTimeout(int millis) {
        // A channel that blocks has no timeout; the test has one.
    }

    @Override
    public void setSoLinger(boolean on, int seconds) {
        // There are no resets here, unless something is unread.
    }

    @Override
    public void shutdownOutput() throws IOException {
        outputEnded = true;
        channel.shutdownOutput();
    }

    @Override
    public boolean isOutputShutdown() {
        return outputEnded;
    }

    @Override
    public boolean isConnected() {
        return true;
    }

    @Override
    public boolean isClosed() {
        return !channel.isOpen();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
