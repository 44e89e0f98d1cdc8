package io.millrace.server;

import io.millrace.engine.transport.StreamTransport;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What a connection has to send and the system did not take yet, in order. Its buffers are its own, or shared ones that never change. One thread, but for the counts
 * of files.
 *
 * <p>Small pieces are copied together, into chunks that grow with what waits: so what waits takes at most about twice its bytes, whatever the pieces were.
 *
 * <p>Files stand beside the buffers, in a list of their own: each knows how many buffers go before it, counted from the first one ever added. So a queue without files, which
 * is nearly every one, pays for them with a comparison.
 */
final class WriteQueue {
    /** How many buffers go to the system in one call. */
    private static final int BATCH = 64;

    /** Up to here a piece is worth a copy rather than a buffer of its own. */
    private static final int SMALL = 1024;

    private static final int SMALLEST_CHUNK = 256;
    private static final int LARGEST_CHUNK = 16 * 1024;

    private static final ByteBuffer[] NONE = {};

    /** A queue that nothing is ever put into: that of every connection that has had nothing to wait for. */
    static final WriteQueue NOTHING = new WriteQueue();

    private static final VarHandle FILES;
    private static final VarHandle FILE_BYTES;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            FILES = lookup.findVarHandle(WriteQueue.class, "files", int.class);
            FILE_BYTES = lookup.findVarHandle(WriteQueue.class, "fileBytes", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private @Nullable ByteBuffer[] buffers = NONE;
    private int head;
    private int size;
    /** How many were taken out, ever. */
    private long taken;
    /** The last buffer, if it has room that is ours to fill. */
    private @Nullable ByteBuffer chunk;

    private long bytes;
    private long sent;

    private @Nullable FileRegion firstFile;
    private @Nullable FileRegion lastFile;

    /** Files that wait, here or on their way here; and how many bytes of them. Any thread. */
    @SuppressWarnings("UnusedVariable") // by FILES
    private volatile int files;

    @SuppressWarnings("UnusedVariable") // by FILE_BYTES
    private volatile long fileBytes;

    boolean isEmpty() {
        return size == 0 && firstFile == null;
    }

    /** How many bytes are in its buffers. */
    long bytes() {
        return bytes;
    }

    /** How many bytes it has given to the system, ever, those of files included. */
    long sent() {
        return sent;
    }

    /** How many bytes of files wait. Any thread. */
    long fileBytes() {
        return (long) FILE_BYTES.getVolatile(this);
    }

    /** How many files wait, each with a descriptor. Any thread. */
    int files() {
        return (int) FILES.getVolatile(this);
    }

    /** Counts a file in or out. Any thread. */
    void countFile(int count, long ofBytes) {
        FILES.getAndAdd(this, count);
        FILE_BYTES.getAndAdd(this, ofBytes);
    }

    /** Adds a copy of the bytes. */
    void addCopy(ByteBuffer data) {
        int count = data.remaining();
        ByteBuffer last = chunk;
        if (last == null || last.capacity() - last.limit() < count) {
            int room = Math.clamp(bytes, SMALLEST_CHUNK, LARGEST_CHUNK);
            last = ByteBuffer.allocate(Math.max(count, room)).limit(0);
            append(last);
            chunk = last;
        }
        int end = last.limit();
        last.limit(end + count).put(end, data, data.position(), count);
        bytes += count;
    }

    /** Adds a buffer that is the queue's from now on, or is shared and never changes. */
    void addOwned(ByteBuffer data) {
        if (size > 0 && data.remaining() <= SMALL) {
            addCopy(data);
        } else {
            append(data);
            bytes += data.remaining();
        }
    }

    private void append(ByteBuffer data) {
        if (head + size == buffers.length) {
            makeRoom();
        }
        buffers[head + size] = data;
        size++;
        chunk = null;
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
        chunk = null;
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
            long gone = before - remaining(present, count);
            bytes -= gone;
            sent += gone;
            drop(present);
            if (!all) {
                return false;
            }
        }
        return true;
    }

    private boolean sendFile(FileRegion region, StreamTransport transport) throws IOException {
        sent += region.sendTo(transport);
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
        }
        if (size == 0) {
            head = 0;
            chunk = null;
        }
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
        buffers = NONE;
        chunk = null;
        head = 0;
        size = 0;
        bytes = 0;
    }
}
