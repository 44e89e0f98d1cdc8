package io.millrace.net;

import io.millrace.poll.Handle;
import io.millrace.poll.internal.Leak;
import io.millrace.sys.SocketSetting;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * A connection between two processes of this machine. {@link ByteStream} says how its calls behave.
 *
 * <p>It is connected from the beginning: {@link #finishConnect} has nothing to wait for and returns true.
 *
 * <h2>Portability</h2>
 * The same for both families; on Windows, which has such sockets too, only with NIO. A peer that closes while bytes that it did not
 * read are on their way is a reset on Linux, the end of the stream elsewhere. No call raises SIGPIPE.
 */
public final class UnixStream implements ByteStream {
    private final Connection connection;
    private final Leak leak;
    private final UnixAddress address;

    UnixStream(StreamTransport transport, UnixAddress address) {
        this.connection = new Connection("UnixStream at ", address, transport, true);
        this.address = address;
        this.leak = Leak.track(this, "UnixStream at", address, connection::close);
    }

    /**
     * Connects, with the default family: {@link Net#connect(UnixAddress)} of {@link Net#standard()}.
     *
     * @param path the listener's path
     * @return a connected stream, the caller's to close
     * @throws java.net.ConnectException if nobody listens there, too many wait there already, or the path is not allowed
     * @throws IOException if the system refuses otherwise
     */
    public static UnixStream connect(Path path) throws IOException {
        return Net.standard().connect(UnixAddress.of(path));
    }

    @Override
    public Handle handle() {
        return connection.bytes.handle();
    }

    @Override
    public boolean finishConnect() throws IOException {
        try {
            return connection.finishConnect();
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public boolean isConnected() {
        return connection.isConnected();
    }

    @Override
    public int tryRead(ByteBuffer into) throws IOException {
        try {
            return connection.read(into);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public int tryRead(ByteBuffer[] into, int offset, int length) throws IOException {
        try {
            return connection.read(into, offset, length);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public int tryRead(MemorySegment into) throws IOException {
        try {
            return connection.read(into);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public int tryWrite(ByteBuffer from) throws IOException {
        try {
            return connection.write(from);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public int tryWrite(ByteBuffer[] from, int offset, int length) throws IOException {
        try {
            return connection.write(from, offset, length);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public int tryWrite(MemorySegment from) throws IOException {
        try {
            return connection.write(from);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public long trySend(FileSource file, long position, long count) throws IOException {
        try {
            return connection.send(file, position, count);
        } finally {
            Reference.reachabilityFence(file);
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public void shutdownOutput() throws IOException {
        try {
            connection.shutdownOutput();
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public void shutdownInput() throws IOException {
        try {
            connection.shutdownInput();
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public int sendBuffer() throws IOException {
        return get(SocketSetting.SEND_BUFFER);
    }

    @Override
    public void setSendBuffer(int bytes) throws IOException {
        set(SocketSetting.SEND_BUFFER, Settings.requireBufferSize(bytes));
    }

    @Override
    public int receiveBuffer() throws IOException {
        return get(SocketSetting.RECEIVE_BUFFER);
    }

    @Override
    public void setReceiveBuffer(int bytes) throws IOException {
        set(SocketSetting.RECEIVE_BUFFER, Settings.requireBufferSize(bytes));
    }

    /**
     * Where the two ends met: the address of the listener, whichever end this is. The end that connected has no name of its own.
     *
     * @return the address, also after close
     */
    public UnixAddress address() {
        return address;
    }

    @Override
    public void close() {
        leak.closed();
        connection.close();
    }

    private int get(SocketSetting setting) throws IOException {
        try {
            return connection.get(setting);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    private void set(SocketSetting setting, int value) throws IOException {
        try {
            connection.set(setting, value);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public String toString() {
        return connection.toString();
    }
}
