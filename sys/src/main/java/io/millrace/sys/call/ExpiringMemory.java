package io.millrace.sys.call;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A copy of some bytes that becomes unusable when its owner says so: every access through its buffer, or through a slice or duplicate of it, throws {@link IllegalStateException}
 * from then on. For debugging: each copy has an arena of its own, which costs far more than the bytes.
 *
 * <p><b>Who keeps it.</b> All views of the buffer hold the segment, which is held weakly here. Beside it there is an object of the same age that nobody holds after {@link #expire}: once that was collected and
 * the segment was not, somebody holds a view. One thread makes, uses and expires it; any thread may ask afterwards.
 */
public final class ExpiringMemory {
    /** What the bytes are overwritten with. */
    public static final byte POISON = (byte) 0xDB;

    private final Arena arena = Arena.ofShared();
    private final WeakReference<MemorySegment> segment;
    private final WeakReference<Object> coeval;
    private @Nullable ByteBuffer buffer;
    private @Nullable Object held;

    /** Copies the bytes from its position to its limit, which stay where they are. */
    public ExpiringMemory(ByteBuffer data) {
        MemorySegment copy = arena.allocate(Math.max(1, data.remaining()));
        Object sameAge = new Object();
        this.segment = new WeakReference<>(copy);
        this.coeval = new WeakReference<>(sameAge);
        this.held = sameAge;
        ByteBuffer view = copy.asByteBuffer().limit(data.remaining());
        view.put(data.duplicate()).flip();
        this.buffer = view;
    }

    /** The copy, until it expires. */
    public ByteBuffer buffer() {
        ByteBuffer present = buffer;
        if (present == null) {
            throw new IllegalStateException("it has expired");
        }
        return present;
    }

    /**
     * Overwrites the bytes and makes them unusable.
     *
     * @return false if another thread is in the middle of a system call with them: they are overwritten, and stay usable
     */
    public boolean expire() {
        Object sameAge = held;
        try {
            MemorySegment copy = segment.get();
            if (copy != null) {
                copy.fill(POISON);
            }
            buffer = null;
            held = null;
            arena.close();
            return true;
        } catch (IllegalStateException e) {
            return false;
        } finally {
            Reference.reachabilityFence(sameAge); // not collected before, so that both have lived through the same
        }
    }

    /** Whether garbage was collected since it expired, as far as that concerns objects of its age. */
    public boolean hasOutlivedACollection() {
        return coeval.refersTo(null);
    }

    /** Whether somebody may still hold a view of it. */
    public boolean isReachable() {
        return !segment.refersTo(null);
    }

    /** Whether this was thrown because memory was used that has expired, here or in another arena. */
    public static boolean isUseAfterEnd(Throwable thrown) {
        if (!(thrown instanceof IllegalStateException)) {
            return false;
        }
        StackTraceElement[] stack = thrown.getStackTrace();
        return stack.length > 0 && stack[0].getClassName().startsWith("jdk.internal.foreign.");
    }
}
