package io.millrace.poll;

import io.millrace.poll.internal.Durations;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.jctools.queues.varhandle.MpscVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * A queue of messages that a {@link Poll} can wait for: readable while it holds a message.
 *
 * {@snippet :
 * Channel<String> channel = Channel.unbounded();
 * poll.register(channel, 2, Interest.READABLE, Trigger.EDGE);
 * // any thread:
 * channel.send("hello");
 * // the polling thread, when token 2 is reported:
 * for (String message; (message = channel.poll()) != null; ) {
 *   handle(message);
 * }
 * }
 *
 * <p><b>What it guarantees.</b> No message is lost, and a channel that was empty is reported when a message arrives.
 * Sending never blocks: if a bounded channel is full, {@code send} hands the message back.
 *
 * <p><b>Edges.</b> With {@link Trigger#EDGE}, receive until there is no message. A channel that was not emptied is not
 * reported again, however many messages follow, until it is emptied or reregistered: only the first message of a burst
 * touches the poll, which is what makes sending cheap.
 *
 * <p><b>Threads.</b> Any thread may send. One thread at a time may receive.
 *
 * <p><b>Disconnecting.</b> {@link #sender()} returns senders that are counted. When the last of them is closed, the
 * channel becomes readable and, once it is empty, answers {@link Received.Disconnected}. If you do not need this, call
 * {@link #send} on the channel itself.
 *
 * <p><b>Waiting.</b> A channel also works without a poll, as a plain queue. A thread that may block waits for a message
 * with {@link #take}, which is cheap on a virtual thread.
 *
 * <h2>Portability</h2>
 * The same on every backend; a send makes a system call only if the poll is asleep.
 *
 * @param <T> the type of the messages
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
    /** The thread that waits for a message. */
    private volatile @Nullable Thread waiting;

    private Channel(Queue<T> queue, int capacity) {
        this.queue = queue;
        this.capacity = capacity;
    }

    /**
     * Creates a channel that is never full.
     *
     * @param <T> the type of the messages
     * @return an empty channel
     */
    public static <T> Channel<T> unbounded() {
        return new Channel<>(new MpscUnboundedVarHandleArrayQueue<>(CHUNK), UNBOUNDED);
    }

    /**
     * Creates a channel that holds at most {@code capacity} messages. Allocates nothing per message.
     *
     * @param capacity at least 1
     * @param <T> the type of the messages
     * @return an empty channel
     */
    public static <T> Channel<T> bounded(int capacity) {
        if (capacity < 1 || capacity > 1 << 30) {
            throw new IllegalArgumentException("the capacity of a channel must be from 1 to 2^30, not " + capacity);
        }
        // The array's size is the next power of two; the counter is what limits it.
        return new Channel<>(new MpscVarHandleArrayQueue<>(Math.max(2, capacity)), capacity);
    }

    /**
     * Creates a channel on top of a queue of your choice, which nothing else may use. The queue must allow one consumer
     * and as many producers as there are sending threads. If it refuses a message ({@code offer} returns false), the
     * channel counts as full.
     *
     * @param queue an empty queue that is safe for these threads
     * @param <T> the type of the messages
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
     * Sends a message. Any thread may call this; it never blocks. Unlike a {@link #sender()}, it is not counted: if the
     * last sender is closed at the same moment, the message may arrive after {@link Received.Disconnected}.
     *
     * @param item the message, not null
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
        pending.countSent(); // a full fence: see await
        wakeReceiver();
        return Offered.sent();
    }

    private void wakeReceiver() {
        Thread receiver = waiting;
        if (receiver != null) {
            LockSupport.unpark(receiver);
        }
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
     * Takes the next message. One thread at a time may call this.
     *
     * @return the message, or that there is none now, or that there will never be another
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
     * Takes the next message, without the allocation that {@link #receive} makes. One thread at a time may call this.
     *
     * @return the message, or null if there is none; {@link #isDisconnected} says whether there will be more
     */
    public @Nullable T poll() {
        T item = queue.poll();
        if (item == null) {
            pending.settleEmpty(queue);
            return null;
        }
        if (capacity != UNBOUNDED) {
            reserved.decrementAndGet();
        }
        pending.countReceived();
        return item;
    }

    /**
     * Takes the next message, and waits for it if there is none. One thread at a time may receive; it must not be the
     * thread of a loop, which has to go on. Parks, so it is cheap on a virtual thread.
     *
     * @return the message; null if there will never be another, because the last {@link #sender()} or the channel was
     *     closed
     * @throws InterruptedException if the thread is interrupted while it waits; no message is lost
     * @throws IllegalStateException if another thread waits
     */
    public @Nullable T take() throws InterruptedException {
        T item = poll();
        return item != null ? item : await(0, 0);
    }

    /**
     * Takes the next message, and waits for it for some time if there is none: see {@link #take}.
     *
     * @param limit how long it waits; zero or less if it does not
     * @return the message, or that none came in time, or that there will never be another
     * @throws InterruptedException if the thread is interrupted while it waits; no message is lost
     * @throws IllegalStateException if another thread waits
     */
    public Received<T> receive(Duration limit) throws InterruptedException {
        Received<T> received = receive();
        long nanos = Durations.nanosOrZero(limit);
        if (!(received instanceof Received.Empty) || nanos == 0) {
            return received;
        }
        T item = await(System.nanoTime() + nanos, nanos);
        if (item != null) {
            return new Received.Item<>(item);
        }
        return receiverClosed ? Received.disconnected() : receive();
    }

    /**
     * Waits. The thread is published before it looks once more; a sender, or whoever ends the channel, publishes that
     * before it looks for the thread. A full fence is between the two steps of each, so one of them sees the other.
     *
     * @param nanos 0 for any time
     * @return null if the time has passed or there will be no more messages
     */
    private @Nullable T await(long deadline, long nanos) throws InterruptedException {
        if (waiting != null) {
            throw new IllegalStateException("cannot wait for " + this + ": " + waiting + " waits for it");
        }
        waiting = Thread.currentThread();
        try {
            for (long left = nanos; ; left = deadline - System.nanoTime()) {
                VarHandle.fullFence();
                boolean over = receiverClosed || pending.isEnded();
                T item = poll();
                if (item != null || over || (nanos != 0 && left <= 0)) {
                    return item;
                }
                if (Thread.interrupted()) {
                    throw new InterruptedException("interrupted while waiting for " + this);
                }
                if (nanos == 0) {
                    LockSupport.park(this);
                } else {
                    LockSupport.parkNanos(this, left);
                }
            }
        } finally {
            waiting = null;
        }
    }

    /**
     * Returns whether the last sender is closed and every message was received.
     *
     * @return true if no more messages will arrive
     */
    public boolean isDisconnected() {
        return pending.isEnded() && queue.isEmpty();
    }

    /**
     * Returns how many messages are waiting; an estimate while other threads send.
     *
     * @return the number of messages
     */
    public int size() {
        return Math.max(0, pending.count());
    }

    /**
     * Creates a counted sender: when the last one is closed, the channel is disconnected. Any thread may call this.
     *
     * @return a new sender, which the caller must close
     * @throws IllegalStateException if the last sender was already closed
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

    /**
     * Counts a sender as closed; the last one ends the channel. The counter is negative from then on, so that no new
     * sender can be created.
     */
    void removeSender() {
        for (; ; ) {
            int seen = senders.get();
            int left = seen - 1;
            if (senders.compareAndSet(seen, left == 0 ? -1 : left)) {
                if (left == 0) {
                    pending.end();
                    VarHandle.fullFence(); // see await
                    wakeReceiver();
                }
                return;
            }
        }
    }

    /**
     * Closes the receiving end. The channel is never reported again, later sends get their message back, and messages
     * that were not received are dropped. Idempotent; any thread may call it.
     */
    @Override
    public void close() {
        receiverClosed = true;
        registration.close();
        VarHandle.fullFence(); // see await
        wakeReceiver();
    }

    @Override
    public String toString() {
        return "channel, " + size() + (capacity == UNBOUNDED ? "" : " of " + capacity) + " messages"
                + (receiverClosed ? ", closed" : pending.isEnded() ? ", disconnected" : "");
    }
}
