package io.millrace.sys.call;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Where the bytes of one buffer are, remembered: a one-entry cache whose owner keeps the last one and asks again with it.
 *
 * <p>Learning the address of a direct buffer makes a memory segment, which allocates where several kinds of buffer are in use; a
 * source that reads into the same buffer again pays a comparison instead. The buffer is held weakly: an idle connection must not
 * keep alive what its owner dropped. Slices and duplicates are objects of their own with an address of their own, and the
 * position is added by the caller, so an entry never goes stale.
 *
 * <p><b>Memory that can be freed under a call.</b> The memory of a plain direct buffer lives as long as the buffer, and so does
 * that of a segment from an automatic or the global arena. A buffer over a segment from a confined or shared arena is another
 * matter: somebody may close the arena during the system call. Such a buffer gets no address here, and its bytes are copied
 * by {@link Scratch}, whose accesses are checked. The kinds are told apart by the classes of their scopes, learnt from an example
 * of each; if they could not be told apart, everything would be copied.
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
     * The address of a buffer.
     *
     * @param last what the last call returned
     * @return {@code last} itself if it is of this buffer
     */
    public static BufferAddress of(@Nullable BufferAddress last, ByteBuffer buffer) {
        return last != null && last.refersTo(buffer) ? last : learn(buffer);
    }

    private static BufferAddress learn(ByteBuffer buffer) {
        if (!buffer.isDirect()) {
            return new BufferAddress(buffer, 0);
        }
        // Of a duplicate, whose position nobody else can move: the address must be that of index 0 whatever another
        // thread does.
        MemorySegment whole = MemorySegment.ofBuffer(buffer.duplicate().clear());
        return new BufferAddress(buffer, Lasting.is(whole.scope()) ? whole.address() : 0);
    }

    /** The address of index 0 of a direct buffer that its owner allocated and keeps: its bytes stay where they are. */
    public static long ofOwn(ByteBuffer buffer) {
        return MemorySegment.ofBuffer(buffer.duplicate().clear()).address();
    }

    /** Whether the bytes stay where they are as long as the buffer is reachable; if not, they must be copied. */
    public boolean isLasting() {
        return base != 0;
    }

    /** The address of an index; the buffer must be kept reachable while it is used. */
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

        /** The examples hold no memory, so nobody needs to close them. */
        private static boolean differs(Arena closeable) {
            Class<?> kind = closeable.scope().getClass();
            return kind != PLAIN && kind != AUTOMATIC && kind != GLOBAL;
        }
    }
}
