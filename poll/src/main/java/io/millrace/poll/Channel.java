package io.millrace.poll;

import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.jctools.queues.varhandle.MpscVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * A queue of messages that a {@link Poll} can wait on: readable while it holds one.
 *
 * <p>Any thread may send. One thread at a time receives. Sending never blocks; a bounded channel that is full hands the message
 * back. A message is never lost: see {@link PendingCount} for why the 0→1 transition and the receiver's re-check are enough.
 *
 * <p>{@link #sender()} hands out senders that are counted: when the last of them is closed, the channel is readable and says
 * {@link Received.Disconnected} once it is empty. Whoever needs no such end sends on the channel itself.
 *
 * <p>Works without a poll as well: then it is a queue.
 *
 * <h2>Portability</h2>
 * The same on every backend; costs a system call only when the poll is asleep.
 *
 * @param <T> the messages
 */
public final class Channel<T> implements Source, AutoCloseable {
    private static final int CHUNK = 1024;
    private static final int UNBOUNDED = Integer.MAX_VALUE;

    private final Queue<T> queue;
    private final int capacity;
    private final Registration registration = new Registration();
    private final PendingCount pending = new PendingCount(registration.node);
    /** Messages in the queue or on their way into it; kept only for a bounded channel. */
    private final AtomicInteger reserved = new AtomicInteger();

    private final AtomicInteger senders = new AtomicInteger();
    private volatile boolean receiverClosed;

    private Channel(Queue<T> queue, int capacity) {
        this.queue = queue;
        this.capacity = capacity;
    }

    /**
     * A channel that is never full.
     *
     * @param <T> the messages
     * @return an empty channel
     */
    public static <T> Channel<T> unbounded() {
        return new Channel<>(new MpscUnboundedVarHandleArrayQueue<>(CHUNK), UNBOUNDED);
    }

    /**
     * A channel that holds at most so many messages. Allocates nothing per message.
     *
     * @param capacity at least 1
     * @param <T> the messages
     * @return an empty channel
     */
    public static <T> Channel<T> bounded(int capacity) {
        if (capacity < 1 || capacity > 1 << 30) {
            throw new IllegalArgumentException("the capacity of a channel must be from 1 to 2^30, not " + capacity);
        }
        // The array is the next power of two; the count is what bounds it.
        return new Channel<>(new MpscVarHandleArrayQueue<>(Math.max(2, capacity)), capacity);
    }

    /**
     * A channel over a queue of your choice. The channel becomes its only user; the queue must allow as many producers as send and
     * one consumer. If it refuses a message ({@code offer} is false), the channel is full.
     *
     * @param queue empty, and safe for the threads that will use it
     * @param <T> the messages
     * @return an empty channel
     */
    public static <T> Channel<T> over(Queue<T> queue) {
        Objects.requireNonNull(queue, "queue");
        if (!queue.isEmpty()) {
            throw new IllegalArgumentException("a channel begins with an empty queue; send what is in it instead");
        }
        return new Channel<>(queue, UNBOUNDED);
    }

    @Override
    public SourceHandle handle() {
        return registration;
    }

    /**
     * Sends a message; from any thread, never blocks. It is not counted as a {@link #sender()} is: if the last of those is closed at this moment, the message
     * may come after {@link Received.Disconnected}.
     *
     * @param item not null
     * @return {@link Offered.Sent}, or the message back with the reason
     */
    public Offered<T> send(T item) {
        Objects.requireNonNull(item, "item");
        if (receiverClosed || pending.isEnded()) {
            return new Offered.Disconnected<>(item);
        }
        boolean counted = capacity != UNBOUNDED;
        if (counted && !reserve()) {
            return new Offered.Full<>(item);
        }
        if (!queue.offer(item)) {
            if (counted) {
                reserved.decrementAndGet();
            }
            return new Offered.Full<>(item);
        }
        pending.sent();
        return Offered.sent();
    }

    private boolean reserve() {
        for (; ; ) {
            int seen = reserved.get();
            if (seen >= capacity) {
                return false;
            }
            if (reserved.compareAndSet(seen, seen + 1)) {
                return true;
            }
        }
    }

    /**
     * Takes the next message. By one thread at a time.
     *
     * @return the message, or that there is none now, or that there will never be one
     */
    public Received<T> receive() {
        boolean ended = pending.isEnded();
        T item = poll();
        if (item != null) {
            return new Received.Item<>(item);
        }
        // Read before the queue was found empty: a message sent before the end is not overlooked.
        return ended ? Received.disconnected() : Received.empty();
    }

    /**
     * Takes the next message, without the allocation of {@link #receive}. By one thread at a time.
     *
     * @return the message, or null if there is none; {@link #isDisconnected} tells whether there ever will be
     */
    public @Nullable T poll() {
        T item = queue.poll();
        if (item == null) {
            pending.foundNothing(queue);
            return null;
        }
        if (capacity != UNBOUNDED) {
            reserved.decrementAndGet();
        }
        pending.received();
        return item;
    }

    /**
     * Whether the last sender is closed and every message was received.
     *
     * @return true if nothing will come any more
     */
    public boolean isDisconnected() {
        return pending.isEnded() && queue.isEmpty();
    }

    /**
     * How many messages wait; a moment's estimate while others send.
     *
     * @return the number of messages
     */
    public int size() {
        return Math.max(0, pending.count());
    }

    /**
     * A sender that is counted: when the last one is closed, the channel is disconnected. From any thread.
     *
     * @return a new sender, the caller's to close
     * @throws IllegalStateException if the last sender was closed already
     */
    public Sender<T> sender() {
        for (; ; ) {
            int seen = senders.get();
            if (seen < 0) {
                throw new IllegalStateException(
                        "cannot make a sender: the last one was closed, the channel is disconnected");
            }
            if (senders.compareAndSet(seen, seen + 1)) {
                return new Sender<>(this);
            }
        }
    }

    /** One sender less; the last one ends the channel. Negative from then on, so that no new one is made. */
    void senderClosed() {
        for (; ; ) {
            int seen = senders.get();
            int left = seen - 1;
            if (senders.compareAndSet(seen, left == 0 ? -1 : left)) {
                if (left == 0) {
                    pending.end();
                }
                return;
            }
        }
    }

    /**
     * Closes the receiver: silent for ever, and every later send gets its message back. What was sent and not received is dropped
     * with the channel. Idempotent, from any thread.
     */
    @Override
    public void close() {
        receiverClosed = true;
        registration.close();
    }

    @Override
    public String toString() {
        return "channel, " + size() + (capacity == UNBOUNDED ? "" : " of " + capacity) + " messages"
                + (receiverClosed ? ", closed" : pending.isEnded() ? ", disconnected" : "");
    }
}
