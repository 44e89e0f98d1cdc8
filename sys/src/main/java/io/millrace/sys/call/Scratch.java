package io.millrace.sys.call;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

/**
 * Native memory that a thread copies through when a buffer's own bytes have no lasting address: a heap buffer's are moved by the
 * collector, and an arena's may be freed. One for each platform thread that needs it, made at first use and never larger than was
 * asked for, up to {@link #MAX_BYTES}; virtual threads share a few, see {@link LendingPool}.
 */
public final class Scratch implements AutoCloseable {
    /** The most that one call moves through it. */
    public static final int MAX_BYTES = 64 << 10;

    private static final int MIN_BYTES = 4 << 10;
    /** Where it begins: some processors copy slowly between a page and memory a few bytes off another, see decision 15. */
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
     * One with room for {@code bytes} or {@link #MAX_BYTES}, whichever is less, until {@link #close}: a platform thread's own, or borrowed if the
     * thread is virtual.
     */
    public static Scratch borrow(int bytes) {
        int needed = Math.min(bytes, MAX_BYTES);
        if (Thread.currentThread().isVirtual()) {
            Scratch free = OF_VIRTUAL_THREADS.take();
            // One that is too small is the collector's from now on: the larger one comes back in its place.
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

    /** Gives it back, if it was borrowed; by the borrower, once. */
    @Override
    public void close() {
        if (lent) {
            OF_VIRTUAL_THREADS.giveBack(this);
        }
    }

    /** Where it is. */
    public long address() {
        return address;
    }

    /** Copies from a buffer, whose position stays; fails if its bytes may not be read by this thread now. */
    public void take(ByteBuffer from, int at, int count) {
        view.put(0, from, at, count);
    }

    /** Copies into a buffer, whose position stays; fails if its bytes may not be written by this thread now. */
    public void give(ByteBuffer to, int at, int count) {
        to.put(at, view, 0, count);
    }

    /** As {@link #take(ByteBuffer, int, int)}, to a place of its own in here. */
    void take(ByteBuffer from, int at, int count, int here) {
        view.put(here, from, at, count);
    }

    /** As {@link #give(ByteBuffer, int, int)}, from a place of its own in here. */
    void give(ByteBuffer to, int at, int count, int here) {
        to.put(at, view, here, count);
    }

    /** Copies the beginning of a segment; fails if its bytes may not be read by this thread now. */
    public void take(MemorySegment from, int count) {
        MemorySegment.copy(from, 0, segment, 0, count);
    }

    /** Copies to the beginning of a segment; fails if its bytes may not be written by this thread now. */
    public void give(MemorySegment to, int count) {
        MemorySegment.copy(segment, 0, to, 0, count);
    }

    /**
     * Fails if the segment's bytes may not be used by this thread now: to be asked before bytes that cannot be put back are taken for
     * it.
     */
    public static void requireUsable(MemorySegment segment) {
        if (segment.byteSize() > 0) {
            segment.get(ValueLayout.JAVA_BYTE, 0);
        }
    }

    /** The first bytes as a direct buffer, for calls that want one. The next one who asks gets the same buffer. */
    public ByteBuffer view(int bytes) {
        return view.clear().limit(bytes);
    }

    /** To be called when the user of {@link #view} is done: copies need all of it. */
    public void clearView() {
        view.clear();
    }
}
