package io.millrace.engine.internal;

import io.millrace.sys.call.ExpiringMemory;
import java.nio.ByteBuffer;

/** A copy of a buffer, lent to a callback of the user's and unusable afterwards: see {@link ExpiringMemory}. For debugging. */
public final class LentBuffer {
    private final ExpiringMemory memory;

    private LentBuffer(ExpiringMemory memory) {
        this.memory = memory;
    }

    /**
     * Copies a buffer.
     *
     * @param data from its position to its limit, which stay where they are
     * @return to be taken back after the call
     */
    public static LentBuffer lend(ByteBuffer data) {
        return new LentBuffer(new ExpiringMemory(data));
    }

    /**
     * The copy.
     *
     * @return a direct buffer with its position at 0
     */
    public ByteBuffer buffer() {
        return memory.buffer();
    }

    /**
     * Overwrites the copy and makes it unusable, together with all its slices and duplicates.
     *
     * @return false if another thread is using it in a system call
     */
    public boolean takeBack() {
        return memory.expire();
    }

    /**
     * Whether garbage was collected since it was taken back, so that {@link #isKept} means something.
     *
     * @return true from then on
     */
    public boolean canBeJudged() {
        return memory.hasOutlivedACollection();
    }

    /**
     * Whether somebody holds it, or a slice or duplicate of it.
     *
     * @return also true as long as nothing was collected
     */
    public boolean isKept() {
        return memory.isReachable();
    }

    /**
     * Whether something was thrown because a buffer was used after it was taken back.
     *
     * @param thrown by a callback
     * @return true also for memory of the user's own that was closed
     */
    public static boolean isUseAfterEnd(Throwable thrown) {
        return ExpiringMemory.isUseAfterEnd(thrown);
    }
}
