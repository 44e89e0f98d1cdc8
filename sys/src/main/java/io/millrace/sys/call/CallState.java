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
 * Where a downcall leaves {@code errno}, and a little scratch memory for its arguments. Not shared between threads at one
 * time: a selector owns one for its waiting thread, a loop owns one, everything else uses {@link #borrow()}.
 *
 * <p>Its memory is freed by the garbage collector: a segment of a shared arena would be counted in and out of use on every call.
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
    /** Whether {@link #close} gives it back to where virtual threads borrow. */
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

    /** One for a loop, whose calls are made by one thread at a time. */
    public static CallState forLoop() {
        return new CallState(Arena.ofAuto());
    }

    /**
     * One for the calls until {@link #close}: a platform thread's own, or borrowed if the thread is virtual. A virtual thread may be unmounted in between, so
     * it must not be used after the close.
     */
    public static CallState borrow() {
        return Thread.currentThread().isVirtual() ? borrowForVirtualThread() : OF_PLATFORM_THREAD.get();
    }

    private static CallState borrowForVirtualThread() {
        CallState free = OF_VIRTUAL_THREADS.take();
        return free != null ? free : new CallState(Arena.ofAuto(), true);
    }

    /** Gives it back, if it was borrowed; by the borrower, once. */
    @Override
    public void close() {
        if (lent) {
            OF_VIRTUAL_THREADS.giveBack(this);
        }
    }

    /**
     * The address of a direct buffer. Of the one that this thread used last it is known here, in memory that is surely near; so a thousand
     * connections that share a buffer share its entry, too.
     *
     * @param last what this call returned for the same connection before; asked if the thread used another buffer since
     */
    public BufferAddress address(ByteBuffer buffer, @Nullable BufferAddress last) {
        BufferAddress known = recent;
        if (known == null || !known.refersTo(buffer)) {
            known = BufferAddress.of(last, buffer);
            recent = known;
        }
        return known;
    }

    /** The address of {@link #SCRATCH_BYTES} bytes whose content lasts until the thread's next call. */
    public long scratch() {
        return whole.address() + SCRATCH_OFFSET;
    }

    /** Turns {@code -1} into {@code -errno}. */
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
