package io.millrace.server.connection;

import io.millrace.engine.transport.StreamTransport;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The output of a connection that the system has not taken yet, in order. Its buffers belong to the queue, or are
 * shared and never change. Used by one thread, except for the counts of files.
 *
 * <p>Small pieces are copied into chunks that grow with the queue, so it takes at most about twice as much memory as
 * there are bytes waiting, no matter how small the pieces are.
 *
 * <p>Files are in a separate list. Each file knows how many buffers precede it, counted from the first one ever added.
 * So a queue without files, which is the usual case, pays only a comparison for them.
 */
public final class WriteQueue {
    /** How many buffers are written with one call. */
    private static final int BATCH = 64;

    /** Pieces up to this size are copied rather than queued as separate buffers. */
    private static final int SMALL = 1024;

    private static final int SMALLEST_CHUNK = 256;
    private static final int LARGEST_CHUNK = 16 * 1024;

    private static final ByteBuffer[] NONE = {};

    /** A queue that is always empty, used by every connection on which nothing has had to wait yet. */
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
    /** How many buffers have been removed since the beginning. */
    private long taken;
    /** The last buffer, if it belongs to the queue and has room left. */
    private @Nullable ByteBuffer chunk;

    private long bytes;
    private long sent;

    private @Nullable FileRegion firstFile;
    private @Nullable FileRegion lastFile;

    /** How many files are waiting, here or on their way here, and how many bytes they have left. Any thread. */
    @SuppressWarnings("UnusedVariable") // accessed through FILES
    private volatile int files;

    @SuppressWarnings("UnusedVariable") // accessed through FILE_BYTES
    private volatile long fileBytes;

    boolean isEmpty() {
        return size == 0 && firstFile == null;
    }

    /** Returns how many bytes are in the buffers. */
    long bytes() {
        return bytes;
    }

    /** Returns how many bytes have been sent since the beginning, including those of files. */
    long sent() {
        return sent;
    }

    /** Returns how many bytes are waiting, including those of files. */
    long waiting() {
        long sum = bytes;
        for (FileRegion file = firstFile; file != null; file = file.next) {
            sum += file.left();
        }
        return sum;
    }

    /** Returns how many bytes of files are waiting. Any thread. */
    long fileBytes() {
        return (long) FILE_BYTES.getVolatile(this);
    }

    /** Returns how many files are waiting, each with a descriptor. Any thread. */
    int files() {
        return (int) FILES.getVolatile(this);
    }

    /** Adds to the counts of files and their bytes. Any thread. */
    void countFile(int count, long ofBytes) {
        FILES.getAndAdd(this, count);
        FILE_BYTES.getAndAdd(this, ofBytes);
    }

    /** Adds a copy of the bytes, of which there is at least one. */
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

    /**
     * Adds a buffer that belongs to the queue from now on, or that is shared and never changes. An empty one is left out:
     * what has nothing left was sent, so it would be taken for a buffer before the next file.
     */
    void addOwned(ByteBuffer data) {
        if (!data.hasRemaining()) {
            return;
        }
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

    /** Adds a non-empty part of a file, which the queue closes. */
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

    /** Sends as much as the system takes now. Returns true if nothing is left. */
    boolean flush(StreamTransport transport) throws IOException {
        @SuppressWarnings("NullAway") // the elements from head on are not null
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

    /** Removes the buffers that have been sent. */
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

    public static ByteBuffer copy(ByteBuffer data) {
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
