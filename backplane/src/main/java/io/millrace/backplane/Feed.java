package io.millrace.backplane;

import io.millrace.backplane.spi.Envelope;
import io.millrace.backplane.spi.LogReader;
import io.millrace.backplane.spi.Page;
import io.millrace.backplane.spi.StoredRecord;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One topic, as far as this node reads it: a cursor that follows the engine's log, and the subscriptions that follow the
 * cursor.
 *
 * <p><b>The cursor.</b> It begins at the end of the log. From then on every record moves it by one offset. A record that
 * does not continue it is a gap, which every subscription is told of; one that it has passed is dropped. After a lost
 * connection, an overflow, or an engine that says that following has ended, it reads the log page by page from where it
 * stands, and follows again when a page was complete. So there is one way to catch up, and it is used all the time.
 *
 * <p><b>Subscriptions.</b> One that stands where the cursor stands is live: it gets what moves the cursor. Any other one
 * reads pages of its own, until it stands where the cursor stands. That is decided in this topic's executor, where the
 * cursor moves, too; so no record falls between the two, and none comes twice.
 *
 * <p><b>Bounded.</b> What the engine pushes waits in the executor, at most {@link #MOST_WAITING} bytes. If the threads do
 * not keep up, the rest is not taken, and read again later: the history is the queue.
 *
 * <p>Everything is confined to the executor, except where said.
 */
final class Feed {
    private static final int MOST_IN_A_PAGE = 256;
    /** What a page should hold at most, as far as that is known from the page before: long messages make short pages. */
    private static final int BYTES_IN_A_PAGE = 1 << 20;

    private static final long MOST_WAITING = 4 << 20;
    private static final Duration RETRY = Duration.ofMillis(200);

    private final Backplane backplane;
    private final String topic;
    private final TopicExecutor executor;

    private final List<Subscription> subscriptions = new CopyOnWriteArrayList<>();
    /** Subscriptions that were added and have not ended; changed in the map of feeds only. */
    private final AtomicInteger users = new AtomicInteger();
    /** Null until the engine has said where the end is. */
    private @Nullable Position at;
    /** Counts attempts to follow. What belongs to an older one is ignored. */
    private int attempt;
    /** How many records the next page may have. */
    private int inAPage = 16;
    /** Whether it was logged that the engine does not let it read. */
    private boolean toldUnreadable;

    private boolean ended;

    Feed(Backplane backplane, String topic) {
        this.backplane = backplane;
        this.topic = topic;
        this.executor = new TopicExecutor(backplane.manager());
    }

    /** Runs something in order with the messages. Any thread. */
    void execute(Runnable task) {
        executor.execute(task);
    }

    // ---- Following the log ----

    /** Any thread: the engine is connected, for the first time or again. */
    void connected() {
        executor.execute(this::restart);
    }

    private void restart() {
        attempt++;
        if (ended || subscriptions.isEmpty() || !backplane.isConnected()) {
            return;
        }
        if (at == null) {
            await(backplane.engine().last(topic, 0), page -> {
                at = page.end();
                follow();
            });
        } else {
            readOn();
        }
    }

    private void readOn() {
        Position from = at;
        if (from == null) {
            return;
        }
        await(backplane.engine().read(topic, from, inAPage), page -> {
            measure(page);
            take(page);
            if (page.complete()) {
                follow();
            } else {
                readOn();
            }
        });
    }

    private void measure(Page page) {
        long bytes = 0;
        for (StoredRecord stored : page.records()) {
            bytes += stored.bytes().length;
        }
        if (bytes > 0) {
            inAPage = Math.clamp(BYTES_IN_A_PAGE / (1 + bytes / page.records().size()), 1, MOST_IN_A_PAGE);
        }
    }

    private void take(Page page) {
        jumpTo(page.start());
        take(page.records());
        jumpTo(page.end());
        settleAll();
    }

    private void follow() {
        Position from = at;
        if (from != null) {
            backplane.engine().follow(topic, from, new Session(attempt));
        }
        settleAll();
    }

    /** Goes on with the answer in the executor, unless something else has begun meanwhile; tries again if there is none. */
    private void await(CompletableFuture<Page> answer, Consumer<Page> then) {
        int mine = attempt;
        var ignored = answer.whenComplete((page, failure) -> executor.execute(() -> {
            if (mine != attempt || ended) {
                return;
            }
            if (failure == null) {
                toldUnreadable = false;
                then.accept(page);
            } else if (backplane.isConnected()) {
                reportUnreadable(failure);
                backplane.later(RETRY, this::connected);
            } // else: connected() follows
        }));
    }

    /** Once, until it can be read again. */
    private void reportUnreadable(Throwable failure) {
        if (!toldUnreadable && !ended) {
            toldUnreadable = true;
            backplane.reportUnreadable(topic, failure);
        }
    }

    /** What the engine calls, on its own threads. */
    private final class Session implements LogReader {
        private final int mine;
        private final AtomicLong waiting = new AtomicLong();
        private volatile boolean over;

        Session(int mine) {
            this.mine = mine;
        }

        @Override
        public void onRecords(List<StoredRecord> records) {
            if (over) {
                return;
            }
            long bytes = 0;
            for (StoredRecord stored : records) {
                bytes += stored.bytes().length + 64L;
            }
            if (waiting.addAndGet(bytes) > MOST_WAITING) {
                over = true;
                executor.execute(() -> begin(Feed.this::restart));
                return;
            }
            long counted = bytes;
            executor.execute(() -> {
                waiting.addAndGet(-counted);
                if (mine == attempt && !ended) {
                    take(records);
                    settleAll();
                }
            });
        }

        @Override
        public void onBroken() {
            over = true;
            executor.execute(() -> begin(() -> backplane.later(RETRY, Feed.this::connected)));
        }

        private void begin(Runnable again) {
            if (mine == attempt && !ended) {
                backplane.engine().unfollow(topic);
                again.run();
            }
        }
    }

    // ---- Moving the cursor ----

    private void take(List<StoredRecord> records) {
        for (StoredRecord stored : records) {
            Position next = stored.position();
            Position before = new Position(next.epoch(), next.offset() - 1);
            Position here = at;
            if (here == null || isPassed(here, next)) {
                continue;
            }
            jumpTo(before);
            at = next;
            Message message = message(stored);
            if (message == null) {
                jumpAll(next);
                continue;
            }
            for (Subscription one : subscriptions) {
                if (one.progress == Subscription.Progress.LIVE) {
                    give(one, message, next);
                } else if (one.progress == Subscription.Progress.AHEAD && next.equals(one.position())) {
                    settle(one);
                }
            }
        }
    }

    private static boolean isPassed(Position here, Position next) {
        return here.epoch().equals(next.epoch()) && next.offset() <= here.offset();
    }

    /** Null for what somebody else has written there, which is logged and passed over. */
    private @Nullable Message message(StoredRecord stored) {
        try {
            Envelope envelope = Envelope.read(stored.bytes());
            return new Message(stored.position(), envelope.node(), envelope.data());
        } catch (IllegalArgumentException e) {
            backplane.reportForeign(topic, stored.position(), e);
            return null;
        }
    }

    /** Without telling anybody: there was no message. */
    private void jumpAll(Position next) {
        for (Subscription one : subscriptions) {
            if (one.progress == Subscription.Progress.LIVE) {
                one.moveTo(next);
            }
        }
    }

    /** If this is not where the cursor stands, tells all who stand with it. */
    private void jumpTo(Position next) {
        Position here = at;
        if (here == null || here.equals(next) || isPassed(here, next)) {
            return;
        }
        at = next;
        for (Subscription one : subscriptions) {
            if (one.progress == Subscription.Progress.LIVE) {
                tellGap(one, here, next);
            }
        }
    }

    // ---- Subscriptions ----

    /** In the map of feeds. */
    void add(Subscription subscription) {
        users.incrementAndGet();
        executor.execute(() -> {
            boolean first = subscriptions.isEmpty();
            subscriptions.add(subscription);
            if (first) {
                restart();
            } else {
                settle(subscription);
            }
        });
    }

    /** Any thread. */
    void drop(Subscription subscription) {
        executor.execute(() -> {
            if (!subscriptions.remove(subscription)) {
                return;
            }
            if (subscriptions.isEmpty()) {
                attempt++;
                at = null;
                backplane.engine().unfollow(topic);
            }
            backplane.releaseFeed(topic, this);
        });
    }

    /** In the map of feeds. Returns whether nobody needs it any more. */
    boolean release() {
        return users.decrementAndGet() == 0;
    }

    /** Any thread. */
    void settleSoon(Subscription subscription) {
        executor.execute(() -> {
            if (subscription.isPaused() && subscription.progress == Subscription.Progress.LIVE) {
                subscription.progress = Subscription.Progress.RESTING;
            }
            settle(subscription);
        });
    }

    private void settleAll() {
        for (Subscription one : subscriptions) {
            if (one.progress != Subscription.Progress.LIVE) {
                settle(one);
            }
        }
    }

    /** Decides what a subscription that is not live does next. */
    private void settle(Subscription one) {
        Position cursor = at;
        if (cursor == null
                || ended
                || one.isPaused()
                || one.isClosed()
                || one.progress == Subscription.Progress.LIVE
                || one.progress == Subscription.Progress.READING) {
            return;
        }
        Position here = one.position();
        if (here == null) {
            switch (one.start) {
                case Subscription.Start.Now() -> one.moveTo(cursor);
                case Subscription.Start.After(Position position) -> one.moveTo(position);
                case Subscription.Start.Last(int count) -> {
                    readFor(one, backplane.engine().last(topic, count), true);
                    return;
                }
            }
            here = one.position();
        }
        if (cursor.equals(here)) {
            one.progress = Subscription.Progress.LIVE;
            if (one.onLive != null) {
                one.onLive.run();
            }
        } else if (here != null && one.progress == Subscription.Progress.AHEAD && isPassed(here, cursor)) {
            return; // the cursor will come
        } else if (here != null && backplane.isConnected()) {
            readFor(one, backplane.engine().read(topic, here, inAPage), false);
        } else {
            one.progress = Subscription.Progress.RESTING;
        }
    }

    private void readFor(Subscription one, CompletableFuture<Page> answer, boolean fromStart) {
        one.progress = Subscription.Progress.READING;
        var ignored = answer.whenComplete((page, failure) -> executor.execute(() -> {
            one.progress = Subscription.Progress.RESTING;
            if (failure != null) {
                if (backplane.isConnected()) {
                    reportUnreadable(failure);
                    backplane.later(RETRY, () -> settleSoon(one));
                } // else: the cursor settles it when it moves again
                return;
            }
            if (fromStart) {
                one.moveTo(page.start());
            }
            measure(page);
            if (takeFor(one, page) && page.complete()) {
                one.progress = Subscription.Progress.AHEAD;
                goBackFor(one, page.end());
            }
            settle(one);
        }));
    }

    /** Returns whether it has taken everything: it may pause or close meanwhile. */
    private boolean takeFor(Subscription one, Page page) {
        moveFor(one, page.start());
        for (StoredRecord stored : page.records()) {
            if (one.isPaused() || one.isClosed()) {
                return false;
            }
            Position next = stored.position();
            Position here = one.position();
            if (here != null && !isPassed(here, next)) {
                moveFor(one, new Position(next.epoch(), next.offset() - 1));
                Message message = message(stored);
                if (message == null) {
                    one.moveTo(next);
                } else {
                    give(one, message, next);
                }
            }
        }
        moveFor(one, page.end());
        return true;
    }

    private void moveFor(Subscription one, Position next) {
        Position here = one.position();
        if (here != null && !here.equals(next) && !isPassed(here, next)) {
            tellGap(one, here, next);
        }
    }

    /** It has read to the end of the log, and stands behind that: at a position that no record has ever had. */
    private void goBackFor(Subscription one, Position end) {
        Position here = one.position();
        if (here != null && !here.equals(end)) {
            tellGap(one, here, end);
        }
    }

    // ---- Callbacks ----

    /** Delivers to the subscribers of this node alone. Any thread. */
    void giveLocally(String node, ByteBuffer copy) {
        executor.execute(() -> {
            Message message = new Message(null, node, copy);
            for (Subscription one : subscriptions) {
                if (!one.isClosed() && !one.isPaused()) {
                    backplane.countDelivered();
                    call(one, () -> one.subscriber.onMessage(message));
                }
            }
        });
    }

    private void give(Subscription one, Message message, Position next) {
        if (one.isClosed() || one.isPaused()) {
            one.progress = Subscription.Progress.RESTING;
            return;
        }
        one.moveTo(next);
        backplane.countDelivered();
        call(one, () -> one.subscriber.onMessage(message));
    }

    private void tellGap(Subscription one, Position from, Position next) {
        if (one.isClosed() || one.isPaused()) {
            one.progress = Subscription.Progress.RESTING;
            return;
        }
        one.moveTo(next);
        backplane.countGap();
        call(one, () -> one.subscriber.onGap(new Gap(from, next)));
    }

    /** Any thread. */
    void tellPresence(Member member, boolean entered) {
        executor.execute(() -> {
            for (Subscription one : subscriptions) {
                if (!one.isClosed()) {
                    call(one, () -> {
                        if (entered) {
                            one.subscriber.onEntered(member);
                        } else {
                            one.subscriber.onLeft(member);
                        }
                    });
                }
            }
        });
    }

    private interface Callback {
        void run() throws Exception;
    }

    private void call(Subscription one, Callback callback) {
        try {
            callback.run();
        } catch (Throwable e) {
            backplane.reportFailure(one, e);
        }
    }

    // ---- The end ----

    /** Any thread. */
    void end() {
        executor.execute(() -> {
            ended = true;
            attempt++;
            subscriptions.clear();
        });
    }

    /** Any thread; for counters only. */
    int behind() {
        int behind = 0;
        for (Subscription one : subscriptions) {
            behind += one.progress == Subscription.Progress.LIVE ? 0 : 1;
        }
        return behind;
    }

    @Override
    public String toString() {
        return topic;
    }
}
