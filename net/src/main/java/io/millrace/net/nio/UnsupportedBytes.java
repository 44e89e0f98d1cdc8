package io.millrace.net.nio;

import io.millrace.net.family.ByteCalls;
import io.millrace.poll.internal.KernelHandle;
import java.io.Closeable;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * A stream of a child process that the JDK started. Without blocking, it can only be closed; registering it throws with
 * an explanation.
 */
final class UnsupportedBytes implements ByteCalls {
    private final String what;
    private final Closeable stream;
    private volatile boolean closed;

    UnsupportedBytes(String what, Closeable stream) {
        this.what = what;
        this.stream = stream;
    }

    @Override
    public KernelHandle handle() {
        throw new IllegalArgumentException("cannot register " + remedy());
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    @Override
    public int read(ByteBuffer into) {
        throw new UnsupportedOperationException("cannot read " + remedy());
    }

    @Override
    public int write(ByteBuffer from) {
        throw new UnsupportedOperationException("cannot write to " + remedy());
    }

    @Override
    public int read(ByteBuffer[] into, int offset, int length) {
        throw new UnsupportedOperationException("cannot read " + remedy());
    }

    @Override
    public int write(ByteBuffer[] from, int offset, int length) {
        throw new UnsupportedOperationException("cannot write to " + remedy());
    }

    @Override
    public int read(MemorySegment into) {
        throw new UnsupportedOperationException("cannot read " + remedy());
    }

    @Override
    public int write(MemorySegment from) {
        throw new UnsupportedOperationException("cannot write to " + remedy());
    }

    private String remedy() {
        return "the " + what + ": the backend nio takes channels, and the JDK has none for a child's streams; open the"
                + " poll on a native backend and start the child with Net.of(poll), or start it with this"
                + " stream inherited or discarded";
    }

    @Override
    public void close() {
        closed = true;
        try {
            stream.close();
        } catch (IOException e) {
            // What the JDK could not flush to a child that has ended.
            System.getLogger("io.millrace").log(Level.DEBUG, () -> "closing the " + what, e);
        }
    }

    @Override
    public String toString() {
        return what;
    }
}
