package io.millrace.sys.call;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The memory in which a downcall leaves {@code errno}, and some scratch memory for its arguments. Used by one thread at
 * a time: a selector has one for its waiting thread, a loop has one, and everything else uses {@link #borrow()}.
 *
 * <p>Its memory is freed by the garbage collector: with a shared arena, every call would have to count a use.
 */
public final class CallState implements AutoCloseable {
    /** Room for a struct statx and an empty path, the largest arguments that we build. */
    public static final int SCRATCH_BYTES = 272;

    private static final StructLayout LAYOUT = Linker.Option.captureStateLayout();
    private static final long ERRNO = LAYOUT.byteOffset(PathElement.groupElement("errno"));
    private static final long SCRATCH_OFFSET = (LAYOUT.byteSize() + 15) & -16;
    private static final ThreadLocal<CallState> OF_PLATFORM_THREAD =
            ThreadLocal.withInitial(() -> new CallState(Arena.ofAuto()));
    private static final LendingPool<CallState> OF_VIRTUAL_THREADS = new LendingPool<>();

    /** Passed to the handles as their first argument. */
    public final MemorySegment segment;

    private final MemorySegment whole;
    /** Whether {@link #close} returns it to the pool for virtual threads. */
    private final boolean lent;

    /** The buffer of the thread's last call. A loop moves the bytes of all its connections through one. */
    private @Nullable BufferAddress recent;

    public CallState(Arena arena) {
        this(arena, false);
    }

    private CallState(Arena arena, boolean lent) {
        this.lent = lent;
        this.whole = arena.allocate(SCRATCH_OFFSET + SCRATCH_BYTES, 16);
        this.segment = whole.asSlice(0, LAYOUT);
    }

    /** Returns one for a loop, whose calls are made by one thread at a time. */
    public static CallState forLoop() {
        return new CallState(Arena.ofAuto());
    }

    /**
     * Returns one for calls until {@link #close}: the platform thread's own, or a borrowed one if the thread is
     * virtual. A virtual thread may be unmounted in between, so it must not be used after the close.
     */
    public static CallState borrow() {
        return Thread.currentThread().isVirtual() ? borrowForVirtualThread() : OF_PLATFORM_THREAD.get();
    }

    private static CallState borrowForVirtualThread() {
        CallState free = OF_VIRTUAL_THREADS.take();
        return free != null ? free : new CallState(Arena.ofAuto(), true);
    }

    /** Gives it back if it was borrowed. Called once, by the borrower. */
    @Override
    public void close() {
        if (lent) {
            OF_VIRTUAL_THREADS.giveBack(this);
        }
    }

    /**
     * Returns the address of a direct buffer. That of the thread's last buffer is kept here, in memory that is surely
     * cached; so a thousand connections that share a buffer share its entry, too.
     *
     * @param last what this call returned for the same connection before; used if the thread has used another buffer
     *     since
     */
    public BufferAddress address(ByteBuffer buffer, @Nullable BufferAddress last) {
        BufferAddress known = recent;
        if (known == null || !known.refersTo(buffer)) {
            known = BufferAddress.of(last, buffer);
            recent = known;
        }
        return known;
    }

    /** Returns the address of {@link #SCRATCH_BYTES} bytes, whose content lasts until the thread's next call. */
    public long scratch() {
        return whole.address() + SCRATCH_OFFSET;
    }

    /** Converts {@code -1} to {@code -errno}. */
    public int result(long returned) {
        int value = (int) returned;
        return value == -1 ? -errno() : value;
    }

    public long longResult(long returned) {
        return returned == -1 ? -errno() : returned;
    }

    private int errno() {
        return segment.get(ValueLayout.JAVA_INT, ERRNO);
    }
}
