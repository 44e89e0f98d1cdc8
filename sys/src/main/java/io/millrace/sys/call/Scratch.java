package io.millrace.sys.call;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

/**
 * Native memory through which a thread copies if a buffer's own bytes have no lasting address: the garbage collector
 * moves those of a heap buffer, and those of an arena may be freed. Each platform thread that needs it has its own,
 * created at the first use and no larger than was asked for, up to {@link #MAX_BYTES}; virtual threads share a few, see
 * {@link LendingPool}.
 */
public final class Scratch implements AutoCloseable {
    /** The most that one call moves through it. */
    public static final int MAX_BYTES = 64 << 10;

    private static final int MIN_BYTES = 4 << 10;
    /**
     * Its alignment: some processors copy slowly between a page and memory a few bytes off another, see decision 15.
     */
    private static final int PAGE = 4096;

    private static final ThreadLocal<Scratch> OF_PLATFORM_THREAD =
            ThreadLocal.withInitial(() -> new Scratch(MIN_BYTES, false));
    private static final LendingPool<Scratch> OF_VIRTUAL_THREADS = new LendingPool<>();

    private final MemorySegment segment;
    private final ByteBuffer view;
    private final long address;
    private final boolean lent;

    private Scratch(int bytes, boolean lent) {
        this.lent = lent;
        this.segment = Arena.ofAuto().allocate(bytes, PAGE);
        this.view = segment.asByteBuffer();
        this.address = segment.address();
    }

    /**
     * Returns one with room for {@code bytes} or {@link #MAX_BYTES}, whichever is less, until {@link #close}: the
     * platform thread's own, or a borrowed one if the thread is virtual.
     */
    public static Scratch borrow(int bytes) {
        int needed = Math.min(bytes, MAX_BYTES);
        if (Thread.currentThread().isVirtual()) {
            Scratch free = OF_VIRTUAL_THREADS.take();
            // One that is too small is left to the garbage collector; the larger one is given back instead.
            return free != null && needed <= free.view.capacity() ? free : larger(needed, true);
        }
        Scratch present = OF_PLATFORM_THREAD.get();
        if (needed > present.view.capacity()) {
            present = larger(needed, false);
            OF_PLATFORM_THREAD.set(present);
        }
        return present;
    }

    private static Scratch larger(int bytes, boolean lent) {
        return new Scratch(Math.max(MIN_BYTES, Integer.highestOneBit(Math.max(bytes - 1, 1)) << 1), lent);
    }

    /** Gives it back if it was borrowed. Called once, by the borrower. */
    @Override
    public void close() {
        if (lent) {
            OF_VIRTUAL_THREADS.giveBack(this);
        }
    }

    /** Returns its address. */
    public long address() {
        return address;
    }

    /** Copies from a buffer, whose position does not change; throws if this thread may not read its bytes now. */
    public void take(ByteBuffer from, int at, int count) {
        view.put(0, from, at, count);
    }

    /** Copies into a buffer, whose position does not change; throws if this thread may not write its bytes now. */
    public void give(ByteBuffer to, int at, int count) {
        to.put(at, view, 0, count);
    }

    /** Like {@link #take(ByteBuffer, int, int)}, to a given place in here. */
    void take(ByteBuffer from, int at, int count, int here) {
        view.put(here, from, at, count);
    }

    /** Like {@link #give(ByteBuffer, int, int)}, from a given place in here. */
    void give(ByteBuffer to, int at, int count, int here) {
        to.put(at, view, here, count);
    }

    /** Copies the beginning of a segment; throws if this thread may not read its bytes now. */
    public void take(MemorySegment from, int count) {
        MemorySegment.copy(from, 0, segment, 0, count);
    }

    /** Copies to the beginning of a segment; throws if this thread may not write its bytes now. */
    public void give(MemorySegment to, int count) {
        MemorySegment.copy(segment, 0, to, 0, count);
    }

    /**
     * Throws if this thread may not use the segment's bytes now. To be called before bytes are taken that could not be
     * put back.
     */
    public static void requireUsable(MemorySegment segment) {
        if (segment.byteSize() > 0) {
            segment.get(ValueLayout.JAVA_BYTE, 0);
        }
    }

    /** Returns the first bytes as a direct buffer, for calls that need one. Always the same buffer. */
    public ByteBuffer view(int bytes) {
        return view.clear().limit(bytes);
    }

    /** To be called when {@link #view} is not used any more, because copies need all of it. */
    public void clearView() {
        view.clear();
    }
}
