package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.net.Net;
import io.millrace.net.Pipe;
import io.millrace.poll.Event;
import io.millrace.poll.Events;
import io.millrace.poll.Poll;
import io.millrace.poll.Readiness;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * What every suite has: an open {@link Poll} on the backend under test, and ways to ask it.
 *
 * <p>No test waits for time to pass. What must happen is awaited with {@link Await#DEADLINE}; what must not happen is looked for by a
 * poll that does not wait; bounds on time are lower bounds, or are measured on a clock that the test moves.
 */
public abstract class PollContract {
    /** For {@code poll}: look, do not wait. */
    protected static final Duration NOW = Duration.ZERO;
    /**
     * For {@code poll}: an event must come. Longer than {@link Await#DEADLINE}, because a poll whose wake-up was lost finds its event
     * when its time is over, and that must not pass for success.
     */
    protected static final Duration SOON = Await.DEADLINE.multipliedBy(3);

    private final TestedBackend backend;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    /** Open during each test. */
    protected Poll poll;

    /** The buffer that the methods below use. */
    protected final Events events = Events.withCapacity(64);

    /**
     * A suite over one backend.
     *
     * @param backend what to open, and what to expect of it
     */
    protected PollContract(TestedBackend backend) {
        this.backend = backend;
    }

    /**
     * The backend under test.
     *
     * @return as given
     */
    protected final TestedBackend backend() {
        return backend;
    }

    /**
     * For a poll with another clock or tick.
     *
     * @return a builder that asks for the backend under test
     */
    protected Poll.Builder builder() {
        return Poll.builder().backend(backend.name());
    }

    /** Opens {@link #poll}. */
    @BeforeEach
    protected final void openPoll() {
        poll = open(builder());
    }

    /**
     * Opens one more poll, which is closed after the test. The one place that looks whether a test runs on what it claims to.
     *
     * @param settings from {@link #builder}
     * @return an open poll
     */
    protected final Poll open(Poll.Builder settings) {
        Poll opened = closing(settings.open());
        assertThat(opened.backend()).as("the backend that the suite runs on").isEqualTo(backend.name());
        return opened;
    }

    /**
     * Closes something after the test, the last first.
     *
     * @param resource to be closed
     * @param <T> its type
     * @return the same
     */
    protected final <T extends AutoCloseable> T closing(T resource) {
        open.push(resource);
        return resource;
    }

    /**
     * Closes everything.
     *
     * @throws Exception if something cannot be closed
     */
    @AfterEach
    protected final void closeAll() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
    }

    /**
     * Sockets and pipes that {@link #poll} can watch.
     *
     * @return the factory
     */
    protected final Net net() {
        return Net.of(poll);
    }

    /**
     * Two ends of a TCP connection over loopback, closed after the test.
     *
     * @return a connected pair
     */
    protected final SocketPair socketPair() {
        return closing(SocketPair.connect(net()));
    }

    /**
     * A pipe, closed after the test.
     *
     * @return an empty pipe
     */
    protected final Pipe pipe() {
        try {
            return closing(net().pipe());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * One poll that does not wait.
     *
     * @return its events
     */
    protected final List<Event> pollNow() {
        return poll(NOW);
    }

    /**
     * One poll that waits for what must come.
     *
     * @return its events, at least one
     */
    protected final List<Event> pollSoon() {
        pollSoon(events);
        return read(events);
    }

    /**
     * One poll that waits for what must come.
     *
     * @param into the buffer to use
     * @return how many events it found, at least one
     */
    protected final int pollSoon(Events into) {
        long start = System.nanoTime();
        int found = poll.poll(into, SOON);
        if (found == 0 || System.nanoTime() - start >= Await.DEADLINE.toNanos()) {
            throw new AssertionError("no event within " + Await.DEADLINE.toSeconds() + " s; then: " + found);
        }
        return found;
    }

    /**
     * One poll.
     *
     * @param timeout how long it waits at most, null for ever
     * @return its events
     */
    protected final List<Event> poll(@Nullable Duration timeout) {
        poll.poll(events, timeout);
        return read(events);
    }

    /**
     * What is in a buffer, read in both ways, by the loop and by the cursor.
     *
     * @param from filled by a poll; its cursor is at the beginning afterwards
     * @return a copy
     */
    protected static List<Event> read(Events from) {
        List<Event> copy = new ArrayList<>();
        for (Event event : from) {
            copy.add(event);
        }
        List<Event> byCursor = new ArrayList<>();
        from.rewind();
        while (from.advance()) {
            byCursor.add(new Event(from.token(), from.readiness()));
        }
        from.rewind();
        assertThat(byCursor).as("the cursor sees what the loop sees").isEqualTo(copy);
        return copy;
    }

    /**
     * The tokens of some events.
     *
     * @param of the events
     * @return in the same order
     */
    protected static List<Long> tokens(Collection<Event> of) {
        return of.stream().map(Event::token).toList();
    }

    /**
     * Polls until a token has been seen with all of a readiness, maybe bit by bit, and passes over the events of others.
     *
     * @param token whose
     * @param wanted the bits to see
     * @return every bit that was seen
     */
    protected final Readiness awaitReadiness(long token, Readiness wanted) {
        long start = System.nanoTime();
        Readiness seen = Readiness.NONE;
        while (!seen.contains(wanted)) {
            poll(SOON);
            if (System.nanoTime() - start >= Await.DEADLINE.toNanos()) {
                throw new AssertionError("token " + token + " was seen with " + seen + ", not with " + wanted);
            }
            for (Event event : read(events)) {
                if (event.token() == token) {
                    seen = seen.and(event.readiness());
                }
            }
        }
        return seen;
    }

    /**
     * Polls without waiting until the kernel has nothing more to say; for edges that were under way when the test began.
     */
    protected final void settle() {
        while (!pollNow().isEmpty()) {
            assertThat(events.size()).isPositive();
        }
    }
}
