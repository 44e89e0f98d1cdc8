package io.millrace.sys.call;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The address of one buffer's bytes: a one-entry cache. Its user keeps the last entry and passes it in again.
 *
 * <p>Finding the address of a direct buffer creates a memory segment, which allocates if several kinds of buffers are
 * in use; a source that reads into the same buffer again only pays a comparison. The buffer is held weakly, so that an
 * idle connection does not keep alive a buffer that its owner dropped. Slices and duplicates are separate objects with
 * separate addresses, and the caller adds the position, so an entry never becomes stale.
 *
 * <p><b>Memory that can be freed during a call.</b> The memory of a plain direct buffer lives as long as the buffer,
 * and so does that of a segment from an automatic or the global arena. But if a buffer is over a segment from a
 * confined or shared arena, the arena may be closed during the system call. Such a buffer gets no address here; its
 * bytes are copied through {@link Scratch}, whose accesses are checked. The kinds are distinguished by the classes of
 * their scopes, learnt from an example of each; if they could not be distinguished, everything would be copied.
 *
 * <p>Safe without a lock: {@code base} is final, and a reader that sees the entry without its buffer merely misses.
 */
public final class BufferAddress extends WeakReference<ByteBuffer> {
    /** The address of index 0, or 0 if it must not be used. */
    private final long base;

    private BufferAddress(ByteBuffer buffer, long base) {
        super(buffer);
        this.base = base;
    }

    /**
     * Returns the address of a buffer.
     *
     * @param last what the last call returned
     * @return {@code last} itself if it belongs to this buffer
     */
    public static BufferAddress of(@Nullable BufferAddress last, ByteBuffer buffer) {
        return last != null && last.refersTo(buffer) ? last : learn(buffer);
    }

    private static BufferAddress learn(ByteBuffer buffer) {
        if (!buffer.isDirect()) {
            return new BufferAddress(buffer, 0);
        }
        // Of a duplicate, whose position no other thread can move: the address must be that of index 0.
        MemorySegment whole = MemorySegment.ofBuffer(buffer.duplicate().clear());
        return new BufferAddress(buffer, Lasting.is(whole.scope()) ? whole.address() : 0);
    }

    /**
     * Returns the address of index 0 of a direct buffer that its owner allocated and keeps, so that its bytes stay
     * where they are.
     */
    public static long ofOwn(ByteBuffer buffer) {
        return MemorySegment.ofBuffer(buffer.duplicate().clear()).address();
    }

    /**
     * Returns whether the bytes stay where they are as long as the buffer is reachable; if not, they must be copied.
     */
    public boolean isLasting() {
        return base != 0;
    }

    /** Returns the address of an index; the buffer must be kept reachable while it is used. */
    public long at(int index) {
        assert base != 0 : "this buffer's bytes must be copied";
        return base + index;
    }

    private static final class Lasting {
        private static final Class<?> PLAIN =
                MemorySegment.ofBuffer(ByteBuffer.allocateDirect(1)).scope().getClass();
        private static final Class<?> AUTOMATIC = Arena.ofAuto().scope().getClass();
        private static final Class<?> GLOBAL = Arena.global().scope().getClass();
        private static final boolean DISTINCT = differs(Arena.ofShared()) && differs(Arena.ofConfined());

        static boolean is(MemorySegment.Scope scope) {
            Class<?> kind = scope.getClass();
            return DISTINCT && (kind == PLAIN || kind == AUTOMATIC || kind == GLOBAL);
        }

        /** The examples hold no memory, so they need not be closed. */
        private static boolean differs(Arena closeable) {
            Class<?> kind = closeable.scope().getClass();
            return kind != PLAIN && kind != AUTOMATIC && kind != GLOBAL;
        }
    }
}
