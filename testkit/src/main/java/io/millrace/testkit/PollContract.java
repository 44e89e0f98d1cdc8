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
 * What all suites for a {@link Poll} have in common: an open poll on the backend under test, and helpers.
 *
 * <p>No test waits for time to pass. What must happen is awaited with {@link Await#DEADLINE}; what must not happen is
 * checked by a poll that does not wait; bounds on time are lower bounds, or are measured on a clock that the test
 * moves.
 */
public abstract class PollContract {
    /** A timeout for {@code poll}: do not wait. */
    protected static final Duration NOW = Duration.ZERO;
    /**
     * A timeout for {@code poll}: an event must come. Longer than {@link Await#DEADLINE}, because a poll whose wake-up
     * was lost finds its event when its time is over, and that must not count as success.
     */
    protected static final Duration SOON = Await.DEADLINE.multipliedBy(3);

    private final TestedBackend backend;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    /** Open during each test. */
    protected Poll poll;

    /** The buffer that the methods below use. */
    protected final Events events = Events.withCapacity(64);

    /**
     * Creates a suite for one backend.
     *
     * @param backend what to open, and what to expect of it
     */
    protected PollContract(TestedBackend backend) {
        this.backend = backend;
    }

    /**
     * Returns the backend under test.
     *
     * @return as given
     */
    protected final TestedBackend backend() {
        return backend;
    }

    /**
     * Returns a builder for a poll with another clock or tick.
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
     * Opens another poll, which is closed after the test. The only place that checks whether a test runs on the backend
     * that it claims to.
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
     * Closes a resource after the test; the last one is closed first.
     *
     * @param resource what to close
     * @param <T> its type
     * @return the resource
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
     * Returns the factory for sockets and pipes that {@link #poll} can watch.
     *
     * @return the factory
     */
    protected final Net net() {
        return Net.of(poll);
    }

    /**
     * Returns the two ends of a TCP connection over loopback, closed after the test.
     *
     * @return a connected pair
     */
    protected final SocketPair socketPair() {
        return closing(SocketPair.connect(net()));
    }

    /**
     * Returns a pipe, closed after the test.
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
     * Polls once, without waiting.
     *
     * @return its events
     */
    protected final List<Event> pollNow() {
        return poll(NOW);
    }

    /**
     * Polls once, waiting for an event that must come.
     *
     * @return its events, at least one
     */
    protected final List<Event> pollSoon() {
        pollSoon(events);
        return read(events);
    }

    /**
     * Polls once, waiting for an event that must come.
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
     * Polls once.
     *
     * @param timeout the longest time to wait; null waits for ever
     * @return its events
     */
    protected final List<Event> poll(@Nullable Duration timeout) {
        poll.poll(events, timeout);
        return read(events);
    }

    /**
     * Returns the contents of a buffer, read in both ways, by the loop and by the cursor.
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
     * Returns the tokens of some events.
     *
     * @param of the events
     * @return their tokens, in the same order
     */
    protected static List<Long> tokens(Collection<Event> of) {
        return of.stream().map(Event::token).toList();
    }

    /**
     * Polls until a token has been reported with all of a readiness, perhaps bit by bit, and skips the events of
     * others.
     *
     * @param token the token
     * @param wanted the bits to wait for
     * @return every bit that was reported
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
     * Polls without waiting until the kernel has nothing more to report; for edges that were under way when the test
     * began.
     */
    protected final void settle() {
        while (!pollNow().isEmpty()) {
            assertThat(events.size()).isPositive();
        }
    }
}
