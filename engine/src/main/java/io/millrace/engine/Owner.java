package io.millrace.engine;

/** Who a source belongs to in a reactor. */
interface Owner {
    /**
     * The source is ready. On the reactor's thread, while the turn's snapshot is made: puts what is to be run into the run queue, and runs no user code.
     *
     * @param bits as {@link io.millrace.sys.Bits}
     */
    void signalled(int bits);
}
