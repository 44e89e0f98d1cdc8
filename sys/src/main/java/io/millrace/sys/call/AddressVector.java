package io.millrace.sys.call;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Pieces of memory for one vectored call, given by their addresses. For a caller that knows the addresses of its memory
 * and keeps that memory alive and in place until the call has returned, such as an event loop whose buffers are counted
 * by reference; others use {@link Iovecs}, which knows how long a buffer's bytes last.
 *
 * <p>Used by one thread at a time. It allocates nothing after it was created.
 */
public final class AddressVector {
    /** The most pieces that one call takes: IOV_MAX on every supported system. */
    public static final int MAX_PIECES = 1024;

    private static final int ARRAY_OFFSET = 64;

    /** The header, then the array. Freed with this object, by the garbage collector. */
    private final MemorySegment memory;

    private final long header;
    private final long array;
    private int count;
    private long bytes;

    public AddressVector() {
        this.memory = Arena.ofAuto().allocate(ARRAY_OFFSET + (long) MAX_PIECES * Msghdr.IOVEC_BYTES, 16);
        this.header = memory.address();
        this.array = header + ARRAY_OFFSET;
    }

    /** Forgets the pieces. */
    public void clear() {
        count = 0;
        bytes = 0;
    }

    public boolean isFull() {
        return count == MAX_PIECES;
    }

    /** Adds a piece behind the others; the caller has checked {@link #isFull}. An empty piece is left out. */
    public void add(long address, long length) {
        assert !isFull();
        if (length > 0) {
            Msghdr.putIovec(array + (long) count * Msghdr.IOVEC_BYTES, address, length);
            count++;
            bytes += length;
        }
    }

    /** Returns how many pieces there are. */
    public int count() {
        return count;
    }

    /** Returns how many bytes all pieces have. */
    public long bytes() {
        return bytes;
    }

    /** Returns the header of a message without a name, for sendmsg. */
    public long header() {
        Msghdr.put(header, 0, 0, array, count);
        return header;
    }

    /**
     * Returns the header of a message with a name.
     *
     * @param name the address of the name, valid until the call has returned
     */
    public long header(long name, int nameBytes) {
        Msghdr.put(header, name, nameBytes, array, count);
        return header;
    }

    @Override
    public String toString() {
        return count + " pieces of " + bytes + " bytes in " + memory;
    }
}
