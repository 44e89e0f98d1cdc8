package io.millrace.server.secure;

import io.millrace.engine.transport.StreamTransport;
import io.millrace.net.FileSource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;

/** A transport whose input a test writes, and whose output it reads; it takes as much as the test lets it. */
final class ScriptedTransport implements StreamTransport {
    /** As much as a loop reads at once. */
    private static final byte[] NOISE = new byte[64 * 1024];

    static {
        Arrays.fill(NOISE, (byte) 77);
    }

    final ByteArrayOutputStream sent = new ByteArrayOutputStream();
    final ArrayDeque<byte[]> arriving = new ArrayDeque<>();
    private final OneThreadLoop loop;
    private final ByteBuffer input = ByteBuffer.allocateDirect(NOISE.length);
    TlsTransport above;
    /** How much it takes until {@link #open}. */
    int room = Integer.MAX_VALUE;

    /** Whether it forgets what it has taken, so that it allocates nothing. */
    boolean discards;

    boolean full;
    boolean paused;
    boolean outputClosed;
    boolean closed;
    private boolean endArrives;
    private boolean endTold;

    ScriptedTransport(OneThreadLoop loop) {
        this.loop = loop;
    }

    /** Some bytes arrive together. */
    void arrive(byte[] bytes) {
        arriving.add(bytes);
        deliver();
    }

    void end() {
        endArrives = true;
        deliver();
    }

    /** Delivers what has arrived, unless it is paused. */
    void deliver() {
        while (!paused && !closed) {
            byte[] next = arriving.poll();
            if (next == null) {
                if (endArrives && !endTold) {
                    endTold = true;
                    above.onEndOfInput();
                }
                return;
            }
            // As a loop does: in a direct buffer, which has other contents afterwards.
            for (int at = 0; at < next.length && !closed; at += input.capacity()) {
                input.clear()
                        .put(next, at, Math.min(input.capacity(), next.length - at))
                        .flip();
                above.onReceived(input);
                input.clear().put(NOISE);
            }
        }
    }

    /** Has room for so many more bytes. */
    void open(int bytes) {
        room = bytes;
        if (full && !closed) {
            full = false;
            above.onWritable();
        }
    }

    byte[] takeSent() {
        byte[] all = sent.toByteArray();
        sent.reset();
        return all;
    }

    @Override
    public boolean send(ByteBuffer[] buffers, int first, int count) {
        for (int i = first; i < first + count; i++) {
            if (!send(buffers[i])) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean send(ByteBuffer buffer) {
        int taken = full ? 0 : Math.min(room, buffer.remaining());
        if (!discards) {
            sent.write(buffer.array(), buffer.arrayOffset() + buffer.position(), taken);
        }
        buffer.position(buffer.position() + taken);
        room -= taken;
        full |= buffer.hasRemaining();
        return !buffer.hasRemaining();
    }

    @Override
    public long sendFile(FileSource file, long position, long count) throws IOException {
        throw new IOException("a file must not get below TLS");
    }

    @Override
    public void closeOutput() {
        outputClosed = true;
    }

    @Override
    public boolean hasInput() {
        return !arriving.isEmpty();
    }

    @Override
    public void readNow() {
        deliver();
    }

    @Override
    public void pause() {
        paused = true;
    }

    @Override
    public void resume() {
        paused = false;
        loop.execute(this::deliver);
    }

    @Override
    public void close() {
        closed = true;
    }

    @Override
    public boolean isClosed() {
        return closed;
    }
}
