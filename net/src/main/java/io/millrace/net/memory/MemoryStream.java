package io.millrace.net.memory;

import io.millrace.net.family.FileCalls;
import io.millrace.net.family.StreamCalls;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.posix.SocketSetting;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The calls of a stream whose peer is a {@link MemoryWire}. */
final class MemoryStream implements StreamCalls {
    private final MemoryWire wire;
    private final InetSocketAddress local;
    private final Map<SocketSetting, Integer> settings = new ConcurrentHashMap<>();

    MemoryStream(MemoryWire wire, InetSocketAddress local) {
        this.wire = wire;
        this.local = local;
    }

    @Override
    public KernelHandle handle() {
        throw new UnsupportedOperationException("cannot watch " + this + ": the system does not know it");
    }

    @Override
    public boolean isOpen() {
        return !wire.isClosed();
    }

    @Override
    public boolean finishConnect() {
        return true;
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        return wire.read(into);
    }

    @Override
    public int read(ByteBuffer[] into, int offset, int length) throws IOException {
        int at = firstWithRoom(into, offset, length);
        return at < 0 ? requireOpen() : wire.read(into[at]);
    }

    @Override
    public int read(MemorySegment into) throws IOException {
        return wire.read(into.asByteBuffer());
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        return wire.write(from);
    }

    @Override
    public int write(ByteBuffer[] from, int offset, int length) throws IOException {
        int at = firstWithRoom(from, offset, length);
        return at < 0 ? requireOpen() : wire.write(from[at]);
    }

    @Override
    public int write(MemorySegment from) throws IOException {
        return wire.write(from.asByteBuffer());
    }

    private static int firstWithRoom(ByteBuffer[] buffers, int offset, int length) {
        for (int i = offset; i < offset + length; i++) {
            if (buffers[i].hasRemaining()) {
                return i;
            }
        }
        return -1;
    }

    private int requireOpen() throws IOException {
        wire.requireOpen();
        return 0;
    }

    @Override
    public long send(FileCalls file, long position, long count) throws IOException {
        return FileCalls.copy(file, position, count, this);
    }

    @Override
    public boolean mayHaveInput() throws IOException {
        return wire.hasInput();
    }

    @Override
    public void shutdownInput() throws IOException {
        wire.shutInput();
    }

    @Override
    public void shutdownOutput() throws IOException {
        wire.shutOutput();
    }

    @Override
    public int get(SocketSetting setting) throws IOException {
        wire.requireOpen();
        return settings.getOrDefault(setting, 0);
    }

    @Override
    public void set(SocketSetting setting, int value) throws IOException {
        wire.requireOpen();
        settings.put(setting, value);
    }

    @Override
    public InetSocketAddress localAddress() throws IOException {
        wire.requireOpen();
        return local;
    }

    @Override
    public void close() {
        Integer linger = settings.get(SocketSetting.LINGER);
        wire.close(linger != null && linger == 0);
    }

    @Override
    public String toString() {
        return "in memory";
    }
}
