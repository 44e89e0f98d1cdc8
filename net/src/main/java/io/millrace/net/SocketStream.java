package io.millrace.net;

import io.millrace.net.family.ByteCalls;
import io.millrace.net.family.Failures;
import io.millrace.net.family.FileCalls;
import io.millrace.net.family.SocketSettings;
import io.millrace.net.family.StreamCalls;
import io.millrace.poll.SourceHandle;
import io.millrace.poll.internal.LeakTracker;
import io.millrace.sys.Bits;
import io.millrace.sys.posix.SocketSetting;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;

/**
 * What {@link TcpStream} and {@link UnixStream} have in common: the calls of one family, and the state of the
 * connection. Each method keeps the stream reachable until its call has ended, because a stream that is
 * garbage-collected is closed.
 *
 * @param <A> the type of the peer's address
 */
abstract sealed class SocketStream<A> implements ByteStream permits TcpStream, UnixStream {
    final StreamCalls calls;
    final A peer;
    private final LeakTracker leak;
    private volatile boolean connected;
    private volatile boolean inputShut;
    private volatile boolean outputShut;

    SocketStream(A peer, StreamCalls calls, boolean connected) {
        this.calls = calls;
        this.peer = peer;
        this.connected = connected;
        this.leak = LeakTracker.track(this, kind(), peer, calls::close); // calls must not refer to the stream
    }

    /** Returns how it describes itself, without the peer. Also called by the constructor. */
    abstract String kind();

    @Override
    public final SourceHandle handle() {
        return calls.handle();
    }

    @Override
    public final boolean finishConnect() throws IOException {
        try {
            if (connected) {
                requireOpen();
                return true;
            }
            if (calls.finishConnect()) {
                connected = true;
                calls.handle().markDrained(Bits.READABLE | Bits.WRITABLE);
                return true;
            }
            calls.handle().markDrained(Bits.WRITABLE);
            return false;
        } catch (ClosedChannelException e) {
            leak.forget();
            throw e;
        } catch (IOException e) {
            close();
            throw Failures.connect(peer, e);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public final boolean isConnected() {
        return connected && calls.isOpen();
    }

    @Override
    public final int tryRead(ByteBuffer into) throws IOException {
        ByteCalls.requireWritable(into);
        requireConnected("read from");
        try {
            return inputShut ? endOr0(into.hasRemaining()) : calls.read(into);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public final int tryRead(ByteBuffer[] into, int offset, int length) throws IOException {
        ByteCalls.requireWritable(into, offset, length);
        requireConnected("read from");
        try {
            return inputShut ? endOr0(hasRoom(into, offset, length)) : calls.read(into, offset, length);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public final int tryRead(MemorySegment into) throws IOException {
        ByteCalls.requireWritable(into);
        requireConnected("read from");
        try {
            return inputShut ? endOr0(into.byteSize() > 0) : calls.read(into);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public final boolean mayHaveInput() throws IOException {
        requireConnected("look for input of");
        try {
            return !inputShut && calls.mayHaveInput();
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public final int tryWrite(ByteBuffer from) throws IOException {
        requireOutput();
        try {
            return calls.write(from);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public final int tryWrite(ByteBuffer[] from, int offset, int length) throws IOException {
        ByteCalls.requireWithin(from, offset, length);
        requireOutput();
        try {
            return calls.write(from, offset, length);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public final int tryWrite(MemorySegment from) throws IOException {
        requireOutput();
        try {
            return calls.write(from);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public final long trySend(FileSource file, long position, long count) throws IOException {
        FileSource.requirePosition(position);
        if (count < 0) {
            throw new IllegalArgumentException("cannot send " + count + " bytes of " + file + ": not negative, please");
        }
        requireOutput();
        try {
            FileCalls from = file.calls();
            if (count == 0) {
                requireOpen();
                from.requireOpen();
                return 0;
            }
            return calls.send(from, position, count);
        } finally {
            Reference.reachabilityFence(file);
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public final void shutdownOutput() throws IOException {
        requireConnected("shut down the output of");
        try {
            calls.shutdownOutput();
            outputShut = true;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public final void shutdownInput() throws IOException {
        requireConnected("shut down the input of");
        try {
            calls.shutdownInput();
            inputShut = true;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public final int sendBuffer() throws IOException {
        return get(SocketSetting.SEND_BUFFER);
    }

    @Override
    public final void setSendBuffer(int bytes) throws IOException {
        set(SocketSetting.SEND_BUFFER, SocketSettings.requireBufferSize(bytes));
    }

    @Override
    public final int receiveBuffer() throws IOException {
        return get(SocketSetting.RECEIVE_BUFFER);
    }

    @Override
    public final void setReceiveBuffer(int bytes) throws IOException {
        set(SocketSetting.RECEIVE_BUFFER, SocketSettings.requireBufferSize(bytes));
    }

    final int get(SocketSetting setting) throws IOException {
        try {
            return calls.get(setting);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    final void set(SocketSetting setting, int value) throws IOException {
        try {
            calls.set(setting, value);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public final void close() {
        leak.forget();
        calls.close();
    }

    private static boolean hasRoom(ByteBuffer[] into, int offset, int length) {
        for (int i = offset; i < offset + length; i++) {
            if (into[i].hasRemaining()) {
                return true;
            }
        }
        return false;
    }

    /** Returns the result of a read after the input was shut down. */
    private int endOr0(boolean room) throws ClosedChannelException {
        requireOpen();
        return room ? EOF : 0;
    }

    final void requireConnected(String doing) {
        if (!connected) {
            throw new IllegalStateException("cannot " + doing + " " + this
                    + ": not connected; when it is writable, call finishConnect() until it returns true");
        }
    }

    private void requireOutput() throws IOException {
        requireConnected("write to");
        if (outputShut) {
            requireOpen();
            throw new IOException("cannot write to " + this + ": its output was shut down by shutdownOutput()");
        }
    }

    private void requireOpen() throws ClosedChannelException {
        if (!calls.isOpen()) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public final String toString() {
        String state = !calls.isOpen() ? ", closed" : connected ? "" : ", connecting";
        return kind() + " " + peer + state + ", " + calls;
    }
}
