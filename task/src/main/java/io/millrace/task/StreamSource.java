package io.millrace.task;

import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Source;
import io.millrace.poll.SourceHandle;
import java.util.Objects;

/**
 * A set of futures, or any other stream, as a source on a {@code Poll}, beside sockets and timers. It is readable while
 * polling it is worthwhile. The bridge is simply that its waker sets a registration readable.
 *
 * <p>Register it for {@code READABLE}. When it is reported, call {@link #poll()} until it is pending, or as often as
 * the loop can afford: with a LEVEL trigger it is reported again. After the end it is silent until a child is added.
 *
 * <p><b>Threads.</b> One thread at a time may call {@link #poll()}, usually the polling thread. Wake-ups may come from
 * any thread and make a system call only if the poll is asleep.
 *
 * <p><b>Why no result is left behind.</b> If it is not readable, then the last poll returned pending or ended, the
 * stream has this as its waker, and it has not been woken since.
 *
 * <h2>Portability</h2>
 *
 * The same on every backend.
 *
 * @param <T> the type of the values
 */
public final class StreamSource<T> implements Source, AutoCloseable {
    private final Registration registration = new Registration();
    private final Guarded<T> stream;
    private final Waker waker = this::wake;
    /** Whether it was woken since the beginning of the poll that may turn the readiness off. */
    private volatile boolean woken;

    StreamSource(PollableStream<T> stream) {
        this.stream = new Guarded<>(Objects.requireNonNull(stream, "stream"));
        registration.setReadiness(Readiness.READABLE); // it has not been polled yet
    }

    private void wake() {
        woken = true;
        registration.setReadiness(Readiness.READABLE);
    }

    /**
     * Performs one step, without waiting.
     *
     * @return a result; or pending or ended, and then it is not readable until there is something to poll for
     * @throws IllegalStateException if another consumer is using the set
     */
    public Step<T> poll() {
        woken = false;
        Step<T> step = stream.poll(waker);
        if (!(step instanceof Outcome)) {
            // Off first, then check: a wake-up since the poll began may have come before it was turned off. A set that
            // yields after a cycle woke us itself.
            registration.unsetReadiness(Readiness.READABLE);
            if (woken) {
                registration.setReadiness(Readiness.READABLE);
            }
        }
        return step;
    }

    @Override
    public SourceHandle handle() {
        return registration;
    }

    /** Deregisters and stays silent. The stream itself is not closed. Idempotent; any thread may call it. */
    @Override
    public void close() {
        registration.close();
    }

    @Override
    public String toString() {
        return "source over " + stream + ", " + registration;
    }
}
