package io.millrace.server;

import io.millrace.engine.transport.StreamTransport;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What a connection has to send, in order: buffers that the system did not take, which are the queue's own, and behind them buffers that were sent during the present
 * callback, which are the user's until it returns. One thread, but for {@link #bytes}.
 *
 * <p>Files stand beside the buffers, in a list of their own: each knows how many buffers go before it, counted from the first one ever added. So a queue without files, which
 * is nearly every one, pays for them with a comparison.
 */
final class WriteQueue {
    /** How many buffers go to the system in one call. */
    private static final int BATCH = 64;

    private static final ByteBuffer[] NONE = {};

    /** A queue that nothing is ever put into: that of every connection that has had nothing to wait for. */
    static final WriteQueue NOTHING = new WriteQueue();

    private static final VarHandle BYTES;

    static {
        try {
            BYTES = MethodHandles.lookup().findVarHandle(WriteQueue.class, "bytes", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private @Nullable ByteBuffer[] buffers = NONE;
    private int head;
    private int size;
    /** How many of them, from the head on, are the queue's own. */
    private int owned;
    /** How many were taken out, ever. */
    private long taken;

    private @Nullable FileRegion firstFile;
    private @Nullable FileRegion lastFile;
    /** Of {@code bytes}, how many are in files. */
    private long fileBytes;

    /** Written by the loop, read by anyone: opaque. */
    private long bytes;

    boolean isEmpty() {
        return size == 0 && firstFile == null;
    }

    /** How many bytes are in it. Any thread. */
    long bytes() {
        return (long) BYTES.getOpaque(this);
    }

    /** Of those, how many take memory. */
    long bufferedBytes() {
        return bytes - fileBytes;
    }

    /** Adds a buffer that is not the queue's until {@link #own}. */
    void addBorrowed(ByteBuffer data) {
        add(data);
    }

    /** Adds a buffer that is the queue's from now on, or is shared and never changes. */
    void addOwned(ByteBuffer data) {
        if (owned < size) {
            own();
        }
        add(data);
        owned++;
    }

    /** Adds a piece of a file, not empty, which is the queue's to close. */
    void addFile(FileRegion region) {
        region.behind = taken + size;
        if (lastFile == null) {
            firstFile = region;
        } else {
            lastFile.next = region;
        }
        lastFile = region;
        fileBytes += region.left();
        BYTES.setOpaque(this, bytes + region.left());
    }

    private void add(ByteBuffer data) {
        if (head + size == buffers.length) {
            makeRoom();
        }
        buffers[head + size] = data;
        size++;
        BYTES.setOpaque(this, bytes + data.remaining());
    }

    private void makeRoom() {
        if (head > 0 && head >= buffers.length / 2) {
            System.arraycopy(buffers, head, buffers, 0, size);
            Arrays.fill(buffers, size, head + size, null);
        } else {
            buffers = Arrays.copyOfRange(buffers, head, head + Math.max(4, 2 * size));
        }
        head = 0;
    }

    /** Sends what the system takes now; true if nothing is left. */
    boolean flush(StreamTransport transport) throws IOException {
        @SuppressWarnings("NullAway") // those from the head on are there
        ByteBuffer[] present = buffers;
        while (size > 0 || firstFile != null) {
            int count = Math.min(size, BATCH);
            FileRegion file = firstFile;
            if (file != null && file.behind - taken <= count) {
                count = (int) (file.behind - taken);
                if (count == 0) {
                    if (!sendFile(file, transport)) {
                        return false;
                    }
                    continue;
                }
            }
            long before = remaining(present, count);
            boolean all = transport.send(present, head, count);
            BYTES.setOpaque(this, bytes - before + remaining(present, count));
            drop(present);
            if (!all) {
                return false;
            }
        }
        return true;
    }

    private boolean sendFile(FileRegion region, StreamTransport transport) throws IOException {
        long sent = region.sendTo(transport);
        fileBytes -= sent;
        BYTES.setOpaque(this, bytes - sent);
        if (region.left() > 0) {
            return false;
        }
        firstFile = region.next;
        if (firstFile == null) {
            lastFile = null;
        }
        region.close();
        return true;
    }

    private long remaining(ByteBuffer[] present, int count) {
        long sum = 0;
        for (int i = head; i < head + count; i++) {
            sum += present[i].remaining();
        }
        return sum;
    }

    /** Takes out those that are sent. */
    private void drop(ByteBuffer[] present) {
        while (size > 0 && !present[head].hasRemaining()) {
            buffers[head++] = null;
            size--;
            taken++;
            owned = Math.max(0, owned - 1);
        }
        if (size == 0) {
            head = 0;
        }
    }

    /** The callback returns: what is left of the user's buffers is copied. */
    void own() {
        for (int i = owned; i < size; i++) {
            ByteBuffer borrowed = buffers[head + i];
            if (borrowed != null) {
                buffers[head + i] = copy(borrowed);
            }
        }
        owned = size;
    }

    static ByteBuffer copy(ByteBuffer data) {
        return ByteBuffer.allocate(data.remaining()).put(data.duplicate()).flip();
    }

    void clear() {
        for (FileRegion file = firstFile; file != null; file = file.next) {
            file.close();
        }
        firstFile = null;
        lastFile = null;
        fileBytes = 0;
        buffers = NONE;
        head = 0;
        size = 0;
        owned = 0;
        BYTES.setOpaque(this, 0L);
    }
}
