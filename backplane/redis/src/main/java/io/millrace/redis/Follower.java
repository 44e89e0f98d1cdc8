package io.millrace.redis;

import io.lettuce.core.StreamMessage;
import io.lettuce.core.XReadArgs;
import io.lettuce.core.XReadArgs.StreamOffset;
import io.millrace.backplane.Position;
import io.millrace.backplane.spi.LogReader;
import io.millrace.backplane.spi.StoredRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads what is new in all streams that are followed, with one blocking XREAD after the other. A stream that is added
 * while one waits has it end early.
 */
final class Follower {
    private static final Duration WAIT = Duration.ofSeconds(2);
    private static final int MOST_OF_A_STREAM = 256;
    /** What one answer should have at most, as far as that is known from the one before. */
    private static final int BYTES_IN_AN_ANSWER = 2 << 20;

    private final BiConsumer<Session, Throwable> onLost;
    private final BiConsumer<Duration, Runnable> later;
    private final LongSupplier clock;

    private final Object lock = new Object();
    private final Map<String, Followed> streams = new HashMap<>();
    private @Nullable Session session;
    /** Whether an XREAD is on its way or waits. */
    private boolean reading;
    /** Whether a stream was added since the last XREAD was sent. */
    private boolean added;

    private long answeredAt;
    /** How many records of each stream the next answer may have. */
    private int count = 16;

    private static final class Followed {
        final LogReader reader;
        String id;

        Followed(String id, LogReader reader) {
            this.id = id;
            this.reader = reader;
        }
    }

    Follower(BiConsumer<Session, Throwable> onLost, BiConsumer<Duration, Runnable> later, LongSupplier clock) {
        this.onLost = onLost;
        this.later = later;
        this.clock = clock;
    }

    void follow(String key, Position after, LogReader reader) {
        synchronized (lock) {
            if (session == null) {
                return; // whoever follows is told when there is one
            }
            streams.put(key, new Followed(Streams.id(after), reader));
            if (reading) {
                added = true;
                interrupt();
            } else {
                read(session);
            }
        }
    }

    void unfollow(String key) {
        synchronized (lock) {
            streams.remove(key);
        }
    }

    /** Under the lock. An XREAD that has not reached the server yet is not ended by this, so it is tried until one was. */
    private void interrupt() {
        Session now = session;
        if (now == null || !added) {
            return;
        }
        var ignored = now.unblock().whenComplete((ended, failure) -> {
            if (failure == null && ended == 0) {
                later.accept(Duration.ofMillis(5), () -> {
                    synchronized (lock) {
                        if (now == session) {
                            interrupt();
                        }
                    }
                });
            }
        });
    }

    /** Under the lock. */
    @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
    private void read(Session now) {
        added = false;
        if (streams.isEmpty()) {
            reading = false;
            return;
        }
        reading = true;
        answeredAt = clock.getAsLong();
        Map<String, Followed> asked = Map.copyOf(streams);
        List<StreamOffset<String>> from = new ArrayList<>();
        asked.forEach((key, followed) -> from.add(StreamOffset.from(key, followed.id)));
        var ignored = now.waiting
                .async()
                .xread(XReadArgs.Builder.block(WAIT).count(count), (StreamOffset<String>[])
                        from.toArray(new StreamOffset[0]))
                .whenComplete((messages, failure) -> {
                    if (failure == null) {
                        take(now, asked, messages == null ? List.of() : messages);
                    } else {
                        onLost.accept(now, failure);
                    }
                });
    }

    private void take(Session of, Map<String, Followed> asked, List<StreamMessage<String, byte[]>> messages) {
        Map<String, List<StreamMessage<String, byte[]>>> byStream = new LinkedHashMap<>();
        for (StreamMessage<String, byte[]> message : messages) {
            byStream.computeIfAbsent(message.getStream(), key -> new ArrayList<>())
                    .add(message);
        }
        synchronized (lock) {
            if (of != session) {
                return;
            }
            of.proven = true;
            measure(messages, byStream.size());
            byStream.forEach((key, some) -> {
                Followed followed = asked.get(key);
                // One that is followed anew meanwhile, from another place, is not continued by this.
                if (followed != null && followed == streams.get(key)) {
                    List<StoredRecord> records = Streams.records(some);
                    if (!records.isEmpty()) {
                        followed.reader.onRecords(records);
                    }
                    followed.id = some.getLast().getId();
                }
            });
            read(of);
        }
    }

    /** Under the lock. Long messages make short answers. */
    private void measure(List<StreamMessage<String, byte[]>> messages, int streamsInIt) {
        long bytes = 0;
        for (StreamMessage<String, byte[]> message : messages) {
            bytes += Streams.bytes(message).length;
        }
        if (bytes > 0) {
            count = Math.clamp(BYTES_IN_AN_ANSWER / streamsInIt / (1 + bytes / messages.size()), 1, MOST_OF_A_STREAM);
        }
    }

    void begin(Session next) {
        synchronized (lock) {
            session = next;
            answeredAt = clock.getAsLong();
        }
    }

    void lost() {
        synchronized (lock) {
            session = null;
            streams.clear();
            reading = false;
            added = false;
        }
    }

    /** Returns for how long the server should have answered and has not. */
    Duration overdue() {
        synchronized (lock) {
            return reading ? Duration.ofNanos(clock.getAsLong() - answeredAt).minus(WAIT) : Duration.ZERO;
        }
    }
}
