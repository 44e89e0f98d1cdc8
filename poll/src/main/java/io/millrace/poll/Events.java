package io.millrace.poll;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The events of one {@link Poll#poll}: filled by the poll, read by its caller, and reused for the next call.
 *
 * <p>There are two ways to read them. The loop allocates an {@link Event} per step; the cursor allocates nothing:
 *
 * {@snippet :
 * for (Event event : events) {
 *   handle(event.token(), event.readiness());
 * }
 *
 * while (events.advance()) {
 *   handle(events.token(), events.readiness());
 * }
 * }
 *
 * <p>Each step looks up its source at that moment. A source that was deregistered or closed since, even by an earlier
 * handler of the same batch, is skipped; a source that was reregistered is reported with its new token and interest.
 *
 * <p><b>Threads.</b> Only the polling thread may use it.
 */
public final class Events implements Iterable<Event> {
    private static final int MAX_CAPACITY = 1 << 20;

    private final long[] keys;
    private final int[] ready;
    private int size;
    private @Nullable Poll poll;

    private int cursor;
    private long token;
    private int readiness;
    private @Nullable Object sink;

    private Events(int capacity) {
        this.keys = new long[capacity];
        this.ready = new int[capacity];
    }

    /**
     * Creates a buffer with room for {@code capacity} events per poll. If more sources are ready, the following polls
     * report them, and none is starved.
     *
     * @param capacity from 1 to 1,048,576
     * @return an empty buffer
     */
    public static Events withCapacity(int capacity) {
        if (capacity < 1 || capacity > MAX_CAPACITY) {
            throw new IllegalArgumentException(
                    "the capacity of Events must be from 1 to " + MAX_CAPACITY + ", not " + capacity);
        }
        return new Events(capacity);
    }

    /**
     * Returns how many events it has room for.
     *
     * @return the capacity
     */
    public int capacity() {
        return keys.length;
    }

    /**
     * Returns how many events the last poll put in. Fewer are read if sources have been deregistered since.
     *
     * @return the number of events
     */
    public int size() {
        return size;
    }

    /**
     * Returns whether the last poll put nothing in.
     *
     * @return true if there is no event
     */
    public boolean isEmpty() {
        return size == 0;
    }

    /**
     * Moves the cursor to the next event whose source is still registered and interested.
     *
     * @return false at the end
     */
    public boolean advance() {
        while (cursor < size) {
            int at = cursor++;
            if (resolve(at)) {
                return true;
            }
        }
        return false;
    }

    /** Moves the cursor back to before the first event. */
    public void rewind() {
        cursor = 0;
    }

    /**
     * Returns the token of the event under the cursor.
     *
     * @return valid after {@link #advance} returned true
     */
    public long token() {
        return token;
    }

    /**
     * Returns the readiness of the event under the cursor.
     *
     * @return valid after {@link #advance} returned true
     */
    public Readiness readiness() {
        return Readiness.of(readiness);
    }

    /**
     * Returns whether the event under the cursor is readable.
     *
     * @return valid after {@link #advance} returned true
     */
    public boolean isReadable() {
        return readiness().isReadable();
    }

    /**
     * Returns whether the event under the cursor is writable.
     *
     * @return valid after {@link #advance} returned true
     */
    public boolean isWritable() {
        return readiness().isWritable();
    }

    /**
     * Reads the current {@code token} and {@code readiness} of an event. Returns false if there is nothing to report
     * any more.
     */
    private boolean resolve(int at) {
        Poll from = poll;
        Node node = from == null ? null : from.node(keys[at]);
        RegistrationTerms terms = node == null ? null : node.terms;
        if (from == null || node == null || terms == null) {
            return false;
        }
        sink = node.sink;
        token = terms.token();
        readiness = terms.visible(ready[at]);
        if (readiness == 0) {
            from.muteIfHungUp(node, terms, ready[at]);
        }
        return readiness != 0;
    }

    @Override
    public Iterator<Event> iterator() {
        return new Steps();
    }

    // ---- For the poll ----

    void clear(Poll owner) {
        poll = owner;
        size = 0;
        cursor = 0;
    }

    @Nullable
    Object sink() {
        return sink;
    }

    int bits() {
        return readiness;
    }

    int room() {
        return keys.length - size;
    }

    void add(long key, int bits) {
        keys[size] = key;
        ready[size] = bits;
        size++;
    }

    @Override
    public String toString() {
        return size + " events, room for " + keys.length;
    }

    /**
     * Independent of the cursor, so that a loop inside a loop works; resolves each event as late as {@code next()}
     * allows.
     */
    private final class Steps implements Iterator<Event> {
        private int next;
        private @Nullable Event found;

        @Override
        public boolean hasNext() {
            while (found == null && next < size) {
                int at = next++;
                Node node = poll == null ? null : poll.node(keys[at]);
                RegistrationTerms terms = node == null ? null : node.terms;
                int visible = terms == null ? 0 : terms.visible(ready[at]);
                if (terms != null && visible != 0) {
                    found = new Event(terms.token(), Readiness.of(visible));
                }
            }
            return found != null;
        }

        @Override
        public Event next() {
            if (!hasNext()) {
                throw new NoSuchElementException("no more events");
            }
            Event event = Objects.requireNonNull(found, "hasNext() found one");
            found = null;
            return event;
        }
    }
}
