package io.millrace.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.StreamMessage;
import io.millrace.backplane.Position;
import io.millrace.backplane.spi.LogReader;
import io.millrace.backplane.spi.StoredRecord;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Passes on what is new in all streams that are followed. Whoever appends a record also publishes it to the stream's
 * channel, so Redis sends it to those who follow that stream, and a record costs the same however many streams somebody follows; one
 * XREAD for all of them would name them all again for each record.
 *
 * <p>What comes by the channel is not relied on. A record that continues what was passed on is passed on. Anything else, such as a
 * hole, another epoch, or the beginning, has the stream read from there, with XRANGE, until nothing is left; what comes by the channel
 * meanwhile only says that there may be more. So whatever a channel loses is read, in order, and nothing waits here.
 */
final class Follower {
    private static final int COUNT = 256;

    private final BiConsumer<Session, Throwable> onLost;

    private final Object lock = new Object();
    private final Map<String, Followed> streams = new HashMap<>();
    private @Nullable Session session;

    private static final class Followed {
        final LogReader reader;
        Position at;
        /** Whether the stream is being read, or will be when the channel is subscribed to. */
        boolean reading = true;
        /** Whether something came by the channel since it was asked for what there is. */
        boolean more;

        Followed(Position at, LogReader reader) {
            this.at = at;
            this.reader = reader;
        }
    }

    Follower(BiConsumer<Session, Throwable> onLost) {
        this.onLost = onLost;
    }

    void follow(String key, Position after, LogReader reader) {
        synchronized (lock) {
            Session now = session;
            if (now == null) {
                return; // whoever follows is told when there is one
            }
            Followed followed = new Followed(after, reader);
            streams.put(key, followed);
            var ignored = now.subscribe(key).whenComplete((nothing, failure) -> {
                synchronized (lock) {
                    if (failure == null && isCurrent(now, key, followed)) {
                        read(now, key, followed);
                        return;
                    }
                }
                if (failure != null) {
                    failed(now, key, followed, failure);
                }
            });
        }
    }

    void unfollow(String key) {
        synchronized (lock) {
            Session now = session;
            if (streams.remove(key) != null && now != null) {
                now.unsubscribe(key);
            }
        }
    }

    /** Under the lock. One that is followed anew meanwhile, from another place, is not continued by what the old one asked for. */
    private boolean isCurrent(Session of, String key, Followed followed) {
        return of == session && followed == streams.get(key);
    }

    /** Under the lock. */
    private void read(Session now, String key, Followed followed) {
        followed.reading = true;
        followed.more = false;
        var ignored = now.range(key, Streams.id(followed.at), COUNT).whenComplete((messages, failure) -> {
            if (failure == null) {
                take(now, key, followed, messages);
            } else {
                failed(now, key, followed, failure);
            }
        });
    }

    private void take(Session of, String key, Followed followed, List<StreamMessage<String, byte[]>> messages) {
        synchronized (lock) {
            if (!isCurrent(of, key, followed)) {
                return;
            }
            if (!messages.isEmpty()) {
                followed.at = Streams.position(messages.getLast().getId());
                followed.reader.onRecords(Streams.records(messages));
            }
            if (messages.size() == COUNT || followed.more) {
                read(of, key, followed);
            } else {
                followed.reading = false;
            }
        }
    }

    /** By the channel of a stream. */
    void published(Session of, String key, byte[] bytes) {
        synchronized (lock) {
            Followed followed = streams.get(key);
            if (of != session || followed == null) {
                return;
            }
            if (followed.reading) {
                followed.more = true;
                return;
            }
            StoredRecord record = Streams.published(bytes);
            Position at = followed.at;
            if (record != null && record.position().equals(new Position(at.epoch(), at.offset() + 1))) {
                followed.at = record.position();
                followed.reader.onRecords(List.of(record));
            } else {
                read(of, key, followed);
            }
        }
    }

    private void failed(Session of, String key, Followed followed, Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (!(cause instanceof RedisCommandExecutionException)) {
            onLost.accept(of, cause);
            return;
        }
        synchronized (lock) {
            if (isCurrent(of, key, followed)) {
                followed.reader.onBroken(); // the server refuses this stream, and has nothing against the others
            }
        }
    }

    void begin(Session next) {
        synchronized (lock) {
            session = next;
        }
    }

    void lost() {
        synchronized (lock) {
            session = null;
            streams.clear();
        }
    }
}
