package io.millrace.sys;

/**
 * What a {@link Selector} watches: a {@link Descriptor} on the native backends, a {@link NioHandle} on NIO.
 *
 * <p>A selector holds one use from {@code add} until the removal has really happened, so that no descriptor number is
 * given back to the kernel while a wait may still refer to it.
 */
public sealed interface SystemHandle permits Descriptor, NioHandle {
    /** Takes a use. Returns false if the handle is closing; then none was taken. */
    boolean acquire();

    /** Drops a use; dropping the last one of a closing handle closes it. */
    void release();

    /**
     * Returns whether the owner reports each would-block to the library. If the kernel has no edges, only such a handle
     * gets true edges; others are treated as level, so that events may be spurious but are never lost.
     */
    boolean reportsWouldBlock();
}
