package io.millrace.sys;

/**
 * What a {@link Selector} watches: a {@link Descriptor} on the native backends, a {@link NioHandle} on NIO.
 *
 * <p>A selector holds one use from {@code add} until the removal has really happened, so that no descriptor number is
 * given back to the kernel while a wait may still name it.
 */
public sealed interface SystemHandle permits Descriptor, NioHandle {
    /** Takes a use; false if the handle is closing, then nothing was taken. */
    boolean acquire();

    /** Drops a use; whoever drops the last one of a closing handle closes it. */
    void release();

    /**
     * Whether the owner tells the library of each would-block. Where the kernel knows no edges, only such a handle gets
     * true edges; another one is served as level: spurious, never lost.
     */
    boolean reportsWouldBlock();
}
