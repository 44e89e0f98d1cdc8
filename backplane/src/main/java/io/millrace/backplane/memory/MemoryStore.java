package io.millrace.backplane.memory;

import io.millrace.backplane.Position;
import io.millrace.backplane.spi.LogReader;
import io.millrace.backplane.spi.Page;
import io.millrace.backplane.spi.StoredRecord;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The logs that the nodes of one process share. One lock for all: what is done under it is a few stores, and a hand-over
 * to each reader's executor.
 *
 * <p>It can do what the engines on other machines do, for the tests: be away, and come back with its data, as after a
 * restart, or without.
 */
public final class MemoryStore {
    /** Those that have a name, until their last node is closed. */
    private static final Map<String, MemoryStore> NAMED = new HashMap<>();

    private static final AtomicLong EPOCHS = new AtomicLong();

    private final @Nullable String name;
    private final Map<String, Log> logs = new HashMap<>();
    private final Set<MemoryEngine> engines = ConcurrentHashMap.newKeySet();
    private boolean away;
    /** How many have it, or are about to join. Guarded by {@link #NAMED}. */
    private int users;

    private static final class Log {
        String epoch = newEpoch();
        long last;
        final Deque<StoredRecord> records = new ArrayDeque<>();
        final Map<MemoryEngine, LogReader> readers = new HashMap<>();

        Position end() {
            return new Position(epoch, last);
        }
    }

    MemoryStore(@Nullable String name) {
        this.name = name;
    }

    private static String newEpoch() {
        return Long.toString(EPOCHS.incrementAndGet());
    }

    /** The one of this name, or a new one of nobody else's if the name is empty. */
    static MemoryStore named(String name) {
        if (name.isEmpty()) {
            return new MemoryStore(null);
        }
        synchronized (NAMED) {
            MemoryStore store = NAMED.computeIfAbsent(name, MemoryStore::new);
            store.users++;
            return store;
        }
    }

    /** Returns whether it can be reached. */
    synchronized boolean join(MemoryEngine engine) {
        engines.add(engine);
        return !away;
    }

    void part(MemoryEngine engine) {
        engines.remove(engine);
        synchronized (NAMED) {
            users--;
            if (name != null && users == 0) {
                NAMED.remove(name, this);
            }
        }
        synchronized (this) {
            logs.values().forEach(log -> log.readers.remove(engine));
        }
    }

    // ---- What engines do; null while it is away ----

    synchronized @Nullable Position append(String topic, byte[] bytes, int history) {
        if (away) {
            return null;
        }
        Log log = log(topic);
        log.last++;
        StoredRecord stored = new StoredRecord(log.end(), bytes);
        log.records.add(stored);
        while (log.records.size() > history) {
            log.records.remove();
        }
        log.readers.values().forEach(reader -> reader.onRecords(List.of(stored)));
        return stored.position();
    }

    synchronized @Nullable Page last(String topic, int count) {
        if (away) {
            return null;
        }
        Log log = log(topic);
        List<StoredRecord> all = new ArrayList<>(log.records);
        return page(log, null, all.subList(Math.max(0, all.size() - count), all.size()), true);
    }

    synchronized @Nullable Page read(String topic, Position after, int count) {
        if (away) {
            return null;
        }
        Log log = log(topic);
        List<StoredRecord> rest = new ArrayList<>();
        for (StoredRecord stored : log.records) {
            if (isBehind(stored.position(), after)) {
                rest.add(stored);
            }
        }
        boolean complete = rest.size() <= count;
        return page(log, after, complete ? rest : rest.subList(0, count), complete);
    }

    private static Page page(Log log, @Nullable Position after, List<StoredRecord> records, boolean complete) {
        Position end = complete ? log.end() : records.getLast().position();
        Position start = after;
        if (start == null) {
            start = records.isEmpty() ? end : before(records.getFirst().position());
        }
        return new Page(start, List.copyOf(records), end, complete);
    }

    private static Position before(Position position) {
        return new Position(position.epoch(), position.offset() - 1);
    }

    /** Epochs are numbers that grow, so positions have an order. */
    private static boolean isBehind(Position one, Position two) {
        long first = number(one.epoch());
        long second = number(two.epoch());
        return first == second ? one.offset() > two.offset() : first > second;
    }

    private static long number(String epoch) {
        try {
            return Long.parseLong(epoch);
        } catch (NumberFormatException e) {
            return 0; // of another engine: before everything
        }
    }

    synchronized void follow(String topic, Position after, MemoryEngine engine, LogReader reader) {
        Log log = log(topic);
        log.readers.put(engine, reader);
        List<StoredRecord> missed = new ArrayList<>();
        for (StoredRecord stored : log.records) {
            if (isBehind(stored.position(), after)) {
                missed.add(stored);
            }
        }
        if (!missed.isEmpty()) {
            reader.onRecords(missed);
        }
    }

    synchronized void unfollow(String topic, MemoryEngine engine) {
        Log log = logs.get(topic);
        if (log != null) {
            log.readers.remove(engine);
        }
    }

    synchronized void remove(String topic) {
        logs.remove(topic);
    }

    private Log log(String topic) {
        return logs.computeIfAbsent(topic, none -> new Log());
    }

    // ---- For tests ----

    /**
     * Returns a store that is in use.
     *
     * @param name its name
     * @return the one that nodes have now
     */
    public static MemoryStore inUse(String name) {
        synchronized (NAMED) {
            MemoryStore store = NAMED.get(name);
            if (store == null) {
                throw new IllegalStateException("no backplane is open at memory:" + name);
            }
            return store;
        }
    }

    /**
     * It stops answering.
     *
     * @param reason what its engines tell
     */
    public void leave(Throwable reason) {
        synchronized (this) {
            away = true;
            logs.values().forEach(log -> log.readers.clear());
        }
        engines.forEach(engine -> engine.lost(reason));
    }

    /**
     * It answers again, like a server that was restarted.
     *
     * @param withData whether it has its records still
     */
    public void comeBack(boolean withData) {
        synchronized (this) {
            away = false;
            if (withData) {
                logs.values().forEach(log -> {
                    log.epoch = newEpoch();
                    log.last = 0;
                });
            } else {
                logs.clear();
            }
        }
        engines.forEach(MemoryEngine::found);
    }
}
