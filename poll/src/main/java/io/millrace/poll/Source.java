package io.millrace.poll;

/**
 * Anything a {@link Poll} can wait for: a socket, a timer, a channel, or a type of your own.
 *
 * <p>A type becomes a source by holding a {@link Registration} and returning it, or by returning the handle of a source that
 * it wraps. {@link #handle()} returns the same handle every time; it is called on the thread that registers, under no lock.
 */
public interface Source {
    /**
     * What stands for this source in a {@link Poll}.
     *
     * @return the same handle on every call
     */
    SourceHandle handle();
}
