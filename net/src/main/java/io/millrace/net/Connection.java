package io.millrace.net;

import io.millrace.sys.Bits;
import io.millrace.sys.SocketSetting;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;

/**
 * What {@link TcpStream} and {@link UnixStream} have in common: a transport, and how far the connection has come. The public classes add what
 * is their own and keep themselves reachable during each call.
 */
final class Connection {
    private final String kind;
    private final Object peer;
    final StreamTransport transport;
    final ByteTransport bytes;
    private volatile boolean connected;
    private volatile boolean inputShut;
    private volatile boolean outputShut;

    /** A connection that describes itself as {@code kind} and {@code peer}. */
    Connection(String kind, Object peer, StreamTransport transport, boolean connected) {
        this.kind = kind;
        this.peer = peer;
        this.transport = transport;
        this.bytes = transport.bytes();
        this.connected = connected;
    }

    boolean finishConnect() throws IOException {
        try {
            if (connected) {
                requireOpen();
                return true;
            }
            if (transport.finishConnect()) {
                connected = true;
                bytes.handle().drained(Bits.READABLE | Bits.WRITABLE);
                return true;
            }
            bytes.handle().drained(Bits.WRITABLE);
            return false;
        } catch (ClosedChannelException e) {
            throw e;
        } catch (IOException e) {
            close();
            throw Failures.connect(peer, e);
        }
    }

    boolean isConnected() {
        return connected && bytes.isOpen();
    }

    int read(ByteBuffer into) throws IOException {
        ByteTransport.requireWritable(into);
        requireConnected("read from");
        return inputShut ? endOr0(into.hasRemaining()) : bytes.read(into);
    }

    int write(ByteBuffer from) throws IOException {
        requireConnected("write to");
        requireOutput();
        return bytes.write(from);
    }

    int read(ByteBuffer[] into, int offset, int length) throws IOException {
        ByteTransport.requireWritable(into, offset, length);
        requireConnected("read from");
        return inputShut ? endOr0(hasRoom(into, offset, length)) : bytes.read(into, offset, length);
    }

    int write(ByteBuffer[] from, int offset, int length) throws IOException {
        ByteTransport.requireWithin(from, offset, length);
        requireConnected("write to");
        requireOutput();
        return bytes.write(from, offset, length);
    }

    int read(MemorySegment into) throws IOException {
        ByteTransport.requireWritable(into);
        requireConnected("read from");
        return inputShut ? endOr0(into.byteSize() > 0) : bytes.read(into);
    }

    int write(MemorySegment from) throws IOException {
        requireConnected("write to");
        requireOutput();
        return bytes.write(from);
    }

    long send(FileSource file, long position, long count) throws IOException {
        FileSource.requirePosition(position);
        if (count < 0) {
            throw new IllegalArgumentException("cannot send " + count + " bytes of " + file + ": not negative, please");
        }
        requireConnected("write to");
        requireOutput();
        FileTransport from = file.transport();
        if (count == 0) {
            requireOpen();
            from.requireOpen();
            return 0;
        }
        return transport.send(from, position, count);
    }

    private static boolean hasRoom(ByteBuffer[] into, int offset, int length) {
        for (int i = offset; i < offset + length; i++) {
            if (into[i].hasRemaining()) {
                return true;
            }
        }
        return false;
    }

    /** The input was shut down. */
    private int endOr0(boolean room) throws ClosedChannelException {
        requireOpen();
        return room ? Io.EOF : 0;
    }

    void shutdownOutput() throws IOException {
        requireConnected("shut down the output of");
        transport.shutdownOutput();
        outputShut = true;
    }

    void shutdownInput() throws IOException {
        requireConnected("shut down the input of");
        transport.shutdownInput();
        inputShut = true;
    }

    int get(SocketSetting setting) throws IOException {
        return transport.get(setting);
    }

    void set(SocketSetting setting, int value) throws IOException {
        transport.set(setting, value);
    }

    void close() {
        bytes.handle().close();
    }

    void requireConnected(String doing) {
        if (!connected) {
            throw new IllegalStateException("cannot " + doing + " " + this
                    + ": not connected; when it is writable, call finishConnect() until it returns true");
        }
    }

    private void requireOutput() throws IOException {
        if (outputShut) {
            requireOpen();
            throw new IOException("cannot write to " + this + ": its output was shut down by shutdownOutput()");
        }
    }

    private void requireOpen() throws ClosedChannelException {
        if (!bytes.isOpen()) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public String toString() {
        String state = !bytes.isOpen() ? ", closed" : connected ? "" : ", connecting";
        return kind + peer + state + ", " + bytes;
    }
}
