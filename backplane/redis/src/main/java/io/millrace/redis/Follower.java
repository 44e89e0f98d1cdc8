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
    private static final int MOST_AT_ONCE = 256;
    /** What one answer should have at most, as far as that is known from the one before. */
    private static final int BYTES_IN_AN_ANSWER = 2 << 20;

    private final BiConsumer<Session, Throwable> onLost;

    private final Object lock = new Object();
    private final Map<String, Followed> streams = new HashMap<>();
    private @Nullable Session session;

    private static final class Followed {
        final LogReader reader;
        /** Of the last record that was passed on, or over. */
        String id;
        /** Whether the stream is being read, or will be when the channel is subscribed to. */
        boolean reading = true;
        /** Whether something came by the channel since it was asked for what there is. */
        boolean more;
        /** How many records the next answer may have. */
        int count = 16;

        Followed(String id, LogReader reader) {
            this.id = id;
            this.reader = reader;
        }

        /** Long messages make short answers. */
        void measure(List<StreamMessage<String, byte[]>> messages) {
            long bytes = 0;
            for (StreamMessage<String, byte[]> message : messages) {
                bytes += Streams.bytes(message).length;
            }
            if (bytes > 0) {
                count = Math.clamp(BYTES_IN_AN_ANSWER / (1 + bytes / messages.size()), 1, MOST_AT_ONCE);
            }
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
            Followed followed = new Followed(Streams.id(after), reader);
            streams.put(key, followed);
            var ignored = now.subscribe(key).whenComplete((nothing, failure) -> {
                if (failure != null) {
                    onLost.accept(now, unwrapped(failure)); // a server that refuses channels is of no use
                    return;
                }
                synchronized (lock) {
                    if (isCurrent(now, key, followed)) {
                        read(now, key, followed);
                    }
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
        int count = followed.count;
        var ignored = now.range(key, followed.id, count).whenComplete((messages, failure) -> {
            if (failure == null) {
                take(now, key, followed, messages, messages.size() == count);
            } else {
                failed(now, key, followed, failure);
            }
        });
    }

    private void take(
            Session of, String key, Followed followed, List<StreamMessage<String, byte[]>> messages, boolean full) {
        synchronized (lock) {
            if (!isCurrent(of, key, followed)) {
                return;
            }
            of.proven = true;
            if (!messages.isEmpty()) {
                followed.measure(messages);
                followed.id = messages.getLast().getId();
                List<StoredRecord> records = Streams.records(messages);
                if (!records.isEmpty()) {
                    followed.reader.onRecords(records);
                }
            }
            if (full || followed.more) {
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
            if (record != null && Streams.continues(followed.id, record.position())) {
                followed.id = Streams.id(record.position());
                followed.reader.onRecords(List.of(record));
            } else {
                read(of, key, followed);
            }
        }
    }

    private void failed(Session of, String key, Followed followed, Throwable failure) {
        Throwable cause = unwrapped(failure);
        if (!(cause instanceof RedisCommandExecutionException) || Session.isUnusable(cause)) {
            onLost.accept(of, cause);
            return;
        }
        synchronized (lock) {
            if (isCurrent(of, key, followed)) {
                followed.reader.onBroken(); // the server refuses this stream, and has nothing against the others
            }
        }
    }

    private static Throwable unwrapped(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
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
