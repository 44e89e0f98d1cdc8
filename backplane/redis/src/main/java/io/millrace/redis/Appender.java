package io.millrace.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.StreamMessage;
import io.millrace.backplane.NotPublishedException;
import io.millrace.backplane.NotPublishedException.Reason;
import io.millrace.backplane.Position;
import io.millrace.backplane.spi.Envelope;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Appends records in the order in which they are given, each once.
 *
 * <p>All that is unanswered waits in one queue for each topic: what was sent first, then what was not. The commands of
 * one connection are executed in order, so when a connection is lost, what was stored is a part of what was sent. The
 * next session, if it is with the same run of the server, first ends the old connection there, and then looks which of
 * these records are in the stream. Those are acknowledged, and the others are sent again, in order. With another run
 * nobody can say, and they are {@link Reason#UNKNOWN}.
 *
 * <p>A stream that has vanished, or is of a later epoch than this node knew, refuses a record without storing it. Then the
 * answers to what was sent are awaited, which are refusals, too; the stream is opened again, and all of it is sent again.
 *
 * <p>Everything is guarded by the lock. Futures are completed outside of it.
 */
final class Appender {
    private static final int MOST_IDLE = 10_000;
    private static final int MOST_TO_LOOK_AT = 100_000;

    private final String namespace;
    private final String node;
    private final int history;
    /** Called with a session that seems to be lost, outside of the lock. */
    private final BiConsumer<Session, Throwable> onLost;

    private final Object lock = new Object();
    private final Map<String, Outlet> outlets = new HashMap<>();
    private @Nullable Session session;
    private boolean closed;

    private static final class Outlet {
        final String topic;
        final String key;
        final Deque<Unanswered> queue = new ArrayDeque<>();
        /** Where the stream's end was when it was opened, or what was stored last by this node; null if not opened in this session. */
        @Nullable
        Position known;

        boolean busy;
        /** How many were sent in this session and not answered. */
        int sent;

        Outlet(String topic, String key) {
            this.topic = topic;
            this.key = key;
        }
    }

    private static final class Unanswered {
        final Envelope record;
        final CompletableFuture<Position> result = new CompletableFuture<>();
        boolean sent;

        Unanswered(Envelope record) {
            this.record = record;
        }
    }

    Appender(String namespace, String node, int history, BiConsumer<Session, Throwable> onLost) {
        this.namespace = namespace;
        this.node = node;
        this.history = history;
        this.onLost = onLost;
    }

    CompletableFuture<Position> append(String topic, Envelope record) {
        Unanswered added = new Unanswered(record);
        synchronized (lock) {
            if (closed) {
                return CompletableFuture.failedFuture(
                        new NotPublishedException(Reason.CLOSED, "the backplane is closed"));
            }
            Outlet outlet = outlets.computeIfAbsent(topic, name -> new Outlet(name, Streams.key(namespace, name)));
            outlet.queue.add(added);
            Session now = session;
            Position known = outlet.known;
            if (now != null && known != null && !outlet.busy && outlet.sent == outlet.queue.size() - 1) {
                send(now, outlet, known, added); // without looking at the others, of which there may be thousands
            } else {
                pump(outlet);
            }
        }
        return added.result;
    }

    // ---- Under the lock ----

    private void pump(Outlet outlet) {
        Session now = session;
        if (now == null || outlet.busy) {
            return;
        }
        Position known = outlet.known;
        if (known == null) {
            if (outlet.sent == 0) {
                open(outlet, now);
            }
            return;
        }
        for (Unanswered next : outlet.queue) {
            if (!next.sent) {
                send(now, outlet, known, next);
            }
        }
    }

    private void send(Session now, Outlet outlet, Position known, Unanswered next) {
        next.sent = true;
        outlet.sent++;
        var ignored = now.add(outlet.key, known.epoch(), next.record.bytes(), history)
                .whenComplete((id, failure) -> answered(now, outlet, next, id, failure));
    }

    private void open(Outlet outlet, Session now) {
        outlet.busy = true;
        var ignored = now.open(outlet.key).whenComplete((end, failure) -> {
            Runnable then = () -> {};
            synchronized (lock) {
                if (now != session) {
                    return;
                }
                outlet.busy = false;
                if (failure == null) {
                    outlet.known = end;
                    pump(outlet);
                } else {
                    then = refuseOrLose(now, outlet, failure);
                }
            }
            then.run();
        });
    }

    /** What the server says to the opening of a stream holds for all that waits for it. */
    private Runnable refuseOrLose(Session now, Outlet outlet, Throwable failure) {
        Throwable cause = unwrapped(failure);
        if (!(cause instanceof RedisCommandExecutionException) || Session.isUnusable(cause)) {
            return () -> onLost.accept(now, cause);
        }
        List<Unanswered> all = List.copyOf(outlet.queue);
        outlet.queue.clear();
        return () -> all.forEach(one -> one.result.completeExceptionally(refused(cause)));
    }

    private static NotPublishedException refused(Throwable cause) {
        return new NotPublishedException(Reason.REFUSED, "Redis refused it: " + cause.getMessage());
    }

    private static Throwable unwrapped(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    // ---- Answers ----

    private void answered(Session of, Outlet outlet, Unanswered one, @Nullable String id, @Nullable Throwable failure) {
        Throwable cause = failure == null ? null : unwrapped(failure);
        Runnable then = () -> {};
        synchronized (lock) {
            if (of != session) {
                return; // the next session finds out
            }
            if (cause != null && (!(cause instanceof RedisCommandExecutionException) || Session.isUnusable(cause))) {
                then = () -> onLost.accept(of, cause);
            } else {
                outlet.sent--;
                if (id != null) {
                    of.proven = true;
                    Position position = Streams.position(id);
                    outlet.known = outlet.known == null ? null : position;
                    outlet.queue.remove(one);
                    then = () -> one.result.complete(position);
                } else if (cause == null || Session.isStale(cause)) {
                    one.sent = false;
                    outlet.known = null;
                } else {
                    outlet.queue.remove(one);
                    then = () -> one.result.completeExceptionally(refused(cause));
                }
                if (outlet.known == null || outlet.queue.isEmpty()) {
                    settle(outlet);
                }
            }
        }
        then.run();
    }

    private void settle(Outlet outlet) {
        if (!outlet.queue.isEmpty()) {
            pump(outlet);
        } else if (outlets.size() > MOST_IDLE) {
            outlets.remove(outlet.topic, outlet);
        }
    }

    // ---- Sessions ----

    /** The connection is lost: from now on everything waits. */
    void lost() {
        synchronized (lock) {
            session = null;
            outlets.values().forEach(outlet -> {
                outlet.busy = false;
                outlet.sent = 0;
            });
        }
    }

    /**
     * Goes on with a new session. Its predecessor's connection has ended on the server's side.
     *
     * @param sameRun whether the server is the one that had what was sent
     */
    void begin(Session next, boolean sameRun) {
        List<Unanswered> unknown = new ArrayList<>();
        synchronized (lock) {
            session = next;
            for (Outlet outlet : List.copyOf(outlets.values())) {
                Position known = outlet.known;
                outlet.known = null;
                List<Unanswered> sent =
                        outlet.queue.stream().filter(one -> one.sent).toList();
                if (!sent.isEmpty() && sameRun && known != null) {
                    resolve(outlet, next, known, sent);
                } else {
                    outlet.queue.removeAll(sent);
                    unknown.addAll(sent);
                    if (!outlet.queue.isEmpty()) {
                        pump(outlet);
                    }
                }
            }
        }
        unknown.forEach(Appender::fail);
    }

    private static void fail(Unanswered one) {
        one.result.completeExceptionally(new NotPublishedException(
                Reason.UNKNOWN,
                "the connection to Redis was lost while it was on its way, and what became of it cannot be known"));
    }

    /** Looks for the records of this node behind the last one that is known to be stored. */
    private void resolve(Outlet outlet, Session now, Position known, List<Unanswered> sent) {
        outlet.busy = true;
        var ignored = now.range(outlet.key, Streams.id(known), MOST_TO_LOOK_AT).whenComplete((found, failure) -> {
            List<Runnable> then = new ArrayList<>();
            synchronized (lock) {
                if (now != session) {
                    outlet.known = known;
                    return; // the next one tries again
                }
                outlet.busy = false;
                if (failure == null) {
                    sort(outlet, known, sent, found, then);
                    pump(outlet);
                } else {
                    outlet.known = known;
                    then.add(() -> onLost.accept(now, unwrapped(failure)));
                }
            }
            then.forEach(Runnable::run);
        });
    }

    private void sort(
            Outlet outlet,
            Position known,
            List<Unanswered> sent,
            List<StreamMessage<String, byte[]>> found,
            List<Runnable> then) {
        Map<Long, Position> stored = new HashMap<>();
        boolean complete = found.size() < MOST_TO_LOOK_AT;
        long expected = known.offset() + 1;
        for (StreamMessage<String, byte[]> message : found) {
            if (!Streams.isPosition(message.getId())) {
                complete = false;
                continue;
            }
            Position position = Streams.position(message.getId());
            complete &= position.epoch().equals(known.epoch()) && position.offset() == expected;
            expected++;
            long sequence = ownSequence(message);
            if (sequence > 0) {
                stored.put(sequence, position);
            }
        }
        Set<Unanswered> done = new HashSet<>();
        for (Unanswered one : sent) {
            Position position = stored.get(one.record.sequence());
            if (position != null) {
                done.add(one);
                then.add(() -> one.result.complete(position));
            } else if (complete) {
                one.sent = false;
            } else {
                done.add(one);
                then.add(() -> fail(one));
            }
        }
        outlet.queue.removeIf(done::contains);
    }

    /** Returns the number that this node has given a record; 0 for those of others, who may be no nodes at all. */
    private long ownSequence(StreamMessage<String, byte[]> message) {
        try {
            Envelope envelope = Envelope.read(Streams.bytes(message));
            return envelope.node().equals(node) ? envelope.sequence() : 0;
        } catch (IllegalArgumentException e) {
            return 0;
        }
    }

    void remove(String topic) {
        synchronized (lock) {
            Outlet outlet = outlets.get(topic);
            if (outlet != null && outlet.queue.isEmpty()) {
                outlets.remove(topic);
            }
        }
    }

    void close() {
        List<Unanswered> all = new ArrayList<>();
        synchronized (lock) {
            closed = true;
            session = null;
            outlets.values().forEach(outlet -> all.addAll(outlet.queue));
            outlets.clear();
        }
        all.forEach(one -> {
            if (one.sent) {
                fail(one);
            } else {
                one.result.completeExceptionally(
                        new NotPublishedException(Reason.CLOSED, "the backplane was closed before it was sent"));
            }
        });
    }
}
