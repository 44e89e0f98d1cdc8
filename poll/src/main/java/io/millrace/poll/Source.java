package io.millrace.poll;

/**
 * Anything that a {@link Poll} can wait for: a socket, a timer, a channel, or a class of your own.
 *
 * <p>To make your class a source, hold a {@link Registration} and return its handle, or return the handle of a source
 * that you wrap. {@link #handle()} must return the same handle on every call. It is called by the thread that registers
 * the source, without any lock held.
 */
public interface Source {
    /**
     * Returns the handle that represents this source in a {@link Poll}.
     *
     * @return the same handle on every call
     */
    SourceHandle handle();
}
