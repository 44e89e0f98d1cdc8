package io.millrace.sys;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

/**
 * Native memory that a thread copies through when a buffer's own bytes have no lasting address: a heap buffer's are moved by the
 * collector, and an arena's may be freed. One for each thread that needs it, made at first use and never larger than was
 * asked for, up to {@link #MAX_BYTES}.
 */
public final class Scratch {
    /** The most that one call moves through it. */
    public static final int MAX_BYTES = 64 << 10;

    private static final int MIN_BYTES = 4 << 10;
    /** Where it begins: some processors copy slowly between a page and memory a few bytes off another, see decision 15. */
    private static final int PAGE = 4096;

    private static final ThreadLocal<Scratch> CURRENT = ThreadLocal.withInitial(() -> new Scratch(MIN_BYTES));

    private final MemorySegment segment;
    private final ByteBuffer view;
    private final long address;

    private Scratch(int bytes) {
        this.segment = Arena.ofAuto().allocate(bytes, PAGE);
        this.view = segment.asByteBuffer();
        this.address = segment.address();
    }

    /** The calling thread's own, with room for {@code bytes} or {@link #MAX_BYTES}, whichever is less. */
    public static Scratch current(int bytes) {
        Scratch present = CURRENT.get();
        int needed = Math.min(bytes, MAX_BYTES);
        return needed <= present.view.capacity() ? present : larger(needed);
    }

    private static Scratch larger(int bytes) {
        Scratch larger = new Scratch(Integer.highestOneBit(bytes - 1) << 1);
        CURRENT.set(larger);
        return larger;
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
