package io.millrace.backplane;

import org.jspecify.annotations.Nullable;

/**
 * A subscription of one topic. It holds no messages: one that is behind reads them from the history, page by page, and
 * then goes on with the others. So a slow subscriber costs no memory, and the worst that happens to it is a told gap.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
public final class Subscription implements AutoCloseable {
    /** Where it stands. In the topic's executor only. */
    enum Progress {
        /** The topic has not begun, so there is nothing to be behind of. */
        NEW,
        /** A page is being read for it. */
        READING,
        /** It has read to the end of the history; the topic is not there yet. */
        AHEAD,
        /** It gets what the topic gets. */
        LIVE,
        /** Its user or a failed read has it wait. */
        RESTING
    }

    private final Feed feed;
    final Subscriber subscriber;
    /** How it begins. */
    final Start start;
    /** Run once when it has caught up for the first time; null for nothing. */
    final @Nullable Runnable onLive;

    /** How a subscription begins. */
    sealed interface Start {
        /** With what is published from now on. */
        record Now() implements Start {}

        /** With so many of the last messages. */
        record Last(int count) implements Start {}

        /** With what follows a position. */
        record After(Position position) implements Start {}
    }

    volatile Progress progress = Progress.NEW;
    private volatile @Nullable Position at;
    private volatile boolean paused;
    private volatile boolean closed;

    Subscription(Feed feed, Subscriber subscriber, Start start, @Nullable Runnable onLive) {
        this.feed = feed;
        this.subscriber = subscriber;
        this.start = start;
        this.onLive = onLive;
    }

    /**
     * Returns the position behind the last message that the subscriber was given.
     *
     * @return null before it has begun
     */
    public @Nullable Position position() {
        return at;
    }

    void moveTo(Position position) {
        at = position;
    }

    /** Stops the calls until {@link #resume}; one that is running may finish, and no message is lost by this. */
    public void pause() {
        paused = true;
        feed.settleSoon(this);
    }

    /** Continues behind the last message; what came meanwhile is read from the history. */
    public void resume() {
        paused = false;
        feed.settleSoon(this);
    }

    boolean isPaused() {
        return paused;
    }

    boolean isClosed() {
        return closed;
    }

    /** Ends it. A call that is running may finish, and no other follows. Idempotent. */
    @Override
    public void close() {
        closed = true;
        feed.drop(this);
    }

    @Override
    public String toString() {
        return "subscription of " + feed + " at " + at + (closed ? ", closed" : paused ? ", paused" : "");
    }
}
