package io.millrace.testkit;

import io.millrace.engine.transport.StreamTransport;
import io.millrace.engine.transport.TransportSink;
import io.millrace.net.ByteStream;
import io.millrace.net.FileSource;
import io.millrace.net.Io;
import io.millrace.net.memory.MemoryWire;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Moves the bytes between a connection and a wire in memory, as the engine's transport does between a connection and a socket: it is told once that it can read or write, and goes on until it would
 * block.
 */
final class SimulatedTransport implements StreamTransport {
    /** What the buffer holds after a callback: as with a real one, which is read into again, what was there is gone. */
    private static final byte GONE = (byte) 0xDB;

    private static final int READS = 16;

    private final SimulatedLoop loop;
    private final ByteStream stream;
    private final MemoryWire wire;
    private final TransportSink sink;
    private final int bufferSize;
    private boolean queued;
    private boolean paused;
    private boolean inputEnded;
    private boolean full;
    private boolean shareTaken;
    private long share = FILE_SHARE;
    private boolean closed;
    private boolean broken;

    SimulatedTransport(SimulatedLoop loop, ByteStream stream, MemoryWire wire, TransportSink sink, int bufferSize) {
        this.loop = loop;
        this.stream = stream;
        this.wire = wire;
        this.sink = sink;
        this.bufferSize = bufferSize;
    }

    void onReady() {
        if (!queued && !closed) {
            queued = true;
            loop.add(this);
        }
    }

    void run() {
        queued = false;
        if (closed || broken) {
            return;
        }
        share = FILE_SHARE;
        try {
            if (full && (shareTaken || wire.isWritable())) {
                full = false;
                shareTaken = false;
                sink.onWritable();
            }
            read();
        } catch (IOException e) {
            broken = true;
            loop.runSoon(() -> fail(e));
        }
    }

    private void read() throws IOException {
        for (int i = 0; i < READS; i++) {
            if (paused || closed || inputEnded || !wire.isReadable()) {
                return;
            }
            ByteBuffer buffer = loop.cleared(bufferSize);
            int got = stream.tryRead(buffer);
            if (got == Io.EOF) {
                inputEnded = true;
                sink.onEndOfInput();
                return;
            }
            sink.onReceived(buffer.flip());
            overwrite(loop.cleared(bufferSize), got);
        }
        onReady();
    }

    private static void overwrite(ByteBuffer buffer, int count) {
        for (int i = 0; i < count; i++) {
            buffer.put(i, GONE);
        }
    }

    private void fail(IOException cause) {
        if (!closed) {
            broken = true;
            try {
                sink.onFailed(cause);
            } finally {
                close();
            }
        }
    }

    @Override
    public boolean send(ByteBuffer[] buffers, int first, int count) throws IOException {
        for (int i = first; i < first + count; i++) {
            if (!send(buffers[i])) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean send(ByteBuffer buffer) throws IOException {
        while (!full && buffer.hasRemaining()) {
            if (stream.tryWrite(buffer) == Io.WOULD_BLOCK) {
                full = true;
            }
        }
        return !buffer.hasRemaining();
    }

    @Override
    public long sendFile(FileSource file, long position, long count) throws IOException {
        long moved = 0;
        while (moved < count && !full) {
            long sent = share == 0 ? 0 : stream.trySend(file, position + moved, Math.min(count - moved, share));
            if (sent == Io.WOULD_BLOCK) {
                full = true;
            } else if (sent == Io.EOF && moved == 0) {
                return Io.EOF;
            } else if (sent <= 0) {
                full = true;
                shareTaken = true;
                onReady();
            } else {
                moved += sent;
                share -= sent;
            }
        }
        return moved;
    }

    @Override
    public void closeOutput() {
        try {
            stream.shutdownOutput();
        } catch (IOException e) {
            // It is broken already: a read will say so.
        }
    }

    @Override
    public boolean hasInput() {
        return !inputEnded && wire.isReadable();
    }

    @Override
    public void readNow() {
        if (closed || broken) {
            return;
        }
        try {
            read();
        } catch (IOException e) {
            fail(e);
        }
    }

    @Override
    public void pause() {
        paused = true;
    }

    @Override
    public void resume() {
        paused = false;
        if (hasInput()) {
            onReady();
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            loop.forget(wire);
            stream.close();
        }
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public String toString() {
        return sink + " on " + stream;
    }
}
