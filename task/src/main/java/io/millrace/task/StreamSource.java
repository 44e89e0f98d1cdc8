package io.millrace.task;

import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Source;
import io.millrace.poll.SourceHandle;
import java.util.Objects;

/**
 * A set of futures, or any other stream, as a source on a {@code Poll}, beside sockets and timers: readable while polling it is worth
 * while. Setting a registration readable is the waker; that is the whole bridge.
 *
 * <p>Register it for {@code READABLE}. On an event call {@link #poll()} until it is pending, or as often as the loop can spare: with a LEVEL trigger it
 * is reported again. After the end it is silent until a child is added.
 *
 * <p><b>Threads.</b> {@link #poll()} by one thread at a time, usually the polling one. Wake-ups come from any thread and make a system call only if the
 * poll sleeps.
 *
 * <p>If it is not readable, then the last poll answered pending or ended, the stream has this as its waker, and nobody has woken it since. That
 * is why no result is ever left lying.
 *
 * <h2>Portability</h2>
 * The same on every backend.
 *
 * @param <T> the values
 */
public final class StreamSource<T> implements Source, AutoCloseable {
    private final Registration registration = new Registration();
    private final Guarded<T> stream;
    private final Waker waker = this::wake;
    /** Whether somebody woke us since the poll began that may turn the readiness off. */
    private volatile boolean woken;

    StreamSource(PollableStream<T> stream) {
        this.stream = new Guarded<>(Objects.requireNonNull(stream, "stream"));
        registration.setReadiness(Readiness.READABLE); // nobody has looked yet
    }

    private void wake() {
        woken = true;
        registration.setReadiness(Readiness.READABLE);
    }

    /**
     * One step, without waiting.
     *
     * @return a result; or pending or ended, and then it is not readable until there is something to poll for
     * @throws IllegalStateException if somebody else is consuming the set
     */
    public Step<T> poll() {
        woken = false;
        Step<T> step = stream.poll(waker);
        if (!(step instanceof Outcome)) {
            // Off first, then look: a wake-up since the poll began may have come before the off. A set that yields
            // after a cycle woke us itself.
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

    /** Silent for ever, and deregistered. The stream is left alone: it is its owner's to close. Idempotent, from any thread. */
    @Override
    public void close() {
        registration.close();
    }

    @Override
    public String toString() {
        return "source over " + stream + ", " + registration;
    }
}
