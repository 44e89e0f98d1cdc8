package io.millrace.nats;

import io.millrace.backplane.NotPublishedException;
import io.millrace.backplane.NotPublishedException.Reason;
import io.millrace.backplane.Position;
import io.millrace.backplane.spi.Envelope;
import io.nats.client.JetStreamApiException;
import io.nats.client.PublishOptions;
import io.nats.client.api.PublishAck;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Appends records in the order in which they are given, each once.
 *
 * <p>Every record has an id by which the stream recognises it for two minutes. A connection's messages are stored in the
 * order in which they were sent. So when one is lost, all that was unanswered is sent again, in order: what was stored is
 * recognised, and the rest is stored behind it; it does not matter if something of the old connection arrives later. If
 * the stream or the run of the server is another one, or it took too long, nobody can say, and these are {@link
 * Reason#UNKNOWN}. So is one without an answer that a later one has overtaken.
 *
 * <p>Everything is guarded by the lock. Futures are completed outside of it.
 */
final class Publisher {
    private static final int MOST_IDLE = 10_000;
    /** Well below the two minutes. */
    private static final long RECOGNISED_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final String namespace;
    /** Called with a session that seems to be lost, outside of the lock. */
    private final BiConsumer<Session, Throwable> onLost;
    /** Opens a stream on another thread. */
    private final Opener opener;

    private final Object lock = new Object();
    private final Map<String, Outlet> outlets = new HashMap<>();
    private @Nullable Session session;
    private boolean closed;

    /** Asks for the end of a stream, which waits for the server. */
    @FunctionalInterface
    interface Opener {
        CompletableFuture<Position> open(Session session, String stream);
    }

    private static final class Outlet {
        final String topic;
        final String stream;
        final Deque<Unanswered> queue = new ArrayDeque<>();
        /** Of what was sent last; empty before. */
        String epoch = "";

        boolean opened;
        boolean busy;
        int sent;
        /** The number of the last record that was stored: one before it must not be sent again. */
        long acknowledged;

        Outlet(String topic, String stream) {
            this.topic = topic;
            this.stream = stream;
        }
    }

    private static final class Unanswered {
        final Envelope record;
        final CompletableFuture<Position> result = new CompletableFuture<>();
        /** Whether it was ever sent, and when first. */
        boolean tried;

        long triedAt;
        /** Whether it was sent in this session. */
        boolean sent;

        Unanswered(Envelope record) {
            this.record = record;
        }
    }

    Publisher(String namespace, BiConsumer<Session, Throwable> onLost, Opener opener) {
        this.namespace = namespace;
        this.onLost = onLost;
        this.opener = opener;
    }

    CompletableFuture<Position> append(String topic, Envelope record) {
        Unanswered added = new Unanswered(record);
        List<Runnable> then = new ArrayList<>();
        synchronized (lock) {
            if (closed) {
                return CompletableFuture.failedFuture(
                        new NotPublishedException(Reason.CLOSED, "the backplane is closed"));
            }
            Outlet outlet = outlets.computeIfAbsent(topic, name -> new Outlet(name, StreamNames.of(namespace, name)));
            outlet.queue.add(added);
            Session now = session;
            if (now != null && outlet.opened && !outlet.busy && outlet.sent == outlet.queue.size() - 1) {
                send(now, outlet, added, then); // without looking at the others, of which there may be thousands
            } else {
                pump(outlet, then);
            }
        }
        then.forEach(Runnable::run);
        return added.result;
    }

    // ---- Under the lock ----

    private void pump(Outlet outlet, List<Runnable> then) {
        Session now = session;
        if (now == null || outlet.busy) {
            return;
        }
        if (!outlet.opened) {
            if (outlet.sent == 0) {
                outlet.busy = true;
                then.add(() -> {
                    var ignored = opener.open(now, outlet.stream)
                            .whenComplete((end, failure) -> opened(now, outlet, end, failure));
                });
            }
            return;
        }
        for (Unanswered next : List.copyOf(outlet.queue)) {
            if (!next.sent) {
                send(now, outlet, next, then);
            }
        }
    }

    private void send(Session now, Outlet outlet, Unanswered next, List<Runnable> then) {
        if (!next.tried) {
            next.tried = true;
            next.triedAt = System.nanoTime();
        }
        CompletableFuture<PublishAck> answer;
        try {
            answer = now.streams.publishAsync(
                    outlet.stream,
                    next.record.bytes(),
                    PublishOptions.builder()
                            .expectedStream(outlet.stream)
                            .messageId(next.record.node() + "-" + next.record.sequence())
                            .build());
        } catch (IllegalArgumentException e) { // longer than the server allows
            outlet.queue.remove(next);
            then.add(() -> next.result.completeExceptionally(refused(e)));
            return;
        } catch (IllegalStateException e) { // the connection is closed
            then.add(() -> onLost.accept(now, e));
            return;
        }
        next.sent = true;
        outlet.sent++;
        String epoch = outlet.epoch;
        then.add(() -> {
            var ignored = answer.whenComplete((ack, failure) -> answered(now, outlet, next, epoch, ack, failure));
        });
    }

    private static NotPublishedException refused(Throwable cause) {
        return new NotPublishedException(Reason.REFUSED, "NATS refused it: " + cause.getMessage());
    }

    private static void fail(Unanswered one) {
        one.result.completeExceptionally(new NotPublishedException(
                Reason.UNKNOWN,
                "the connection to NATS was lost while it was on its way, and what became of it cannot be known"));
    }

    /** JetStream has refused it; anything else is a lost connection, or a server that does not answer. */
    private static @Nullable JetStreamApiException refusal(@Nullable Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof JetStreamApiException api) {
                return api;
            }
        }
        return null;
    }

    private void opened(Session of, Outlet outlet, @Nullable Position end, @Nullable Throwable failure) {
        List<Runnable> then = new ArrayList<>();
        synchronized (lock) {
            if (of != session) {
                return;
            }
            outlet.busy = false;
            if (end != null) {
                boolean same = end.epoch().equals(outlet.epoch);
                long now = System.nanoTime();
                for (Unanswered one : List.copyOf(outlet.queue)) {
                    boolean passed = one.record.sequence() < outlet.acknowledged;
                    if (one.tried && (!same || passed || now - one.triedAt > RECOGNISED_NANOS)) {
                        outlet.queue.remove(one);
                        then.add(() -> fail(one));
                    }
                }
                outlet.epoch = end.epoch();
                outlet.opened = true;
                pump(outlet, then);
            } else {
                JetStreamApiException refusal = refusal(failure);
                if (refusal == null) {
                    then.add(() ->
                            onLost.accept(of, failure == null ? new IllegalStateException("no answer") : failure));
                } else {
                    List<Unanswered> all = List.copyOf(outlet.queue);
                    outlet.queue.clear();
                    all.forEach(one -> then.add(() -> one.result.completeExceptionally(refused(refusal))));
                }
            }
        }
        then.forEach(Runnable::run);
    }

    private void answered(
            Session of,
            Outlet outlet,
            Unanswered one,
            String epoch,
            @Nullable PublishAck ack,
            @Nullable Throwable failure) {
        List<Runnable> then = new ArrayList<>();
        synchronized (lock) {
            if (of != session) {
                return; // the next session finds out
            }
            outlet.sent--;
            if (ack != null) {
                Position position = new Position(epoch, ack.getSeqno());
                outlet.acknowledged = Math.max(outlet.acknowledged, one.record.sequence());
                outlet.queue.remove(one);
                then.add(() -> one.result.complete(position));
            } else {
                JetStreamApiException refusal = refusal(failure);
                if (refusal != null) {
                    outlet.queue.remove(one);
                    then.add(() -> one.result.completeExceptionally(refused(refusal)));
                } else {
                    // Not stored as far as anybody knows: the stream is gone, or the server is.
                    one.sent = false;
                    outlet.opened = false;
                }
            }
            if (!outlet.queue.isEmpty()) {
                if (!outlet.opened) {
                    pump(outlet, then);
                }
            } else if (outlets.size() > MOST_IDLE) {
                outlets.remove(outlet.topic, outlet);
            }
        }
        then.forEach(Runnable::run);
    }

    // ---- Sessions ----

    void lost() {
        synchronized (lock) {
            session = null;
            outlets.values().forEach(outlet -> {
                outlet.busy = false;
                outlet.opened = false;
                outlet.sent = 0;
                outlet.queue.forEach(one -> one.sent = false);
            });
        }
    }

    void begin(Session next) {
        List<Runnable> then = new ArrayList<>();
        synchronized (lock) {
            session = next;
            for (Outlet outlet : outlets.values()) {
                if (!outlet.queue.isEmpty()) {
                    pump(outlet, then);
                }
            }
        }
        then.forEach(Runnable::run);
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
            if (one.tried) {
                fail(one);
            } else {
                one.result.completeExceptionally(
                        new NotPublishedException(Reason.CLOSED, "the backplane was closed before it was sent"));
            }
        });
    }
}
