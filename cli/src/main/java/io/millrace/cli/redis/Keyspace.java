package io.millrace.cli.redis;

import io.millrace.engine.AlarmKey;
import io.millrace.engine.EventManager;
import io.millrace.engine.Priority;
import java.util.HashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * All keys and their values. Used under {@link #lock}.
 *
 * <p>A key that expires has an alarm of the engine, which removes it; between its deadline and the alarm, it is not
 * found either.
 */
final class Keyspace {
    final ReentrantLock lock = new ReentrantLock();
    private final EventManager manager;
    private final HashMap<Bytes, Entry> entries = new HashMap<>();
    private final Bytes view = Bytes.view();
    private int expiring;

    /**
     * A key with its value: a string is a byte array that belongs to the entry; a list, a set or a hash is a
     * collection.
     */
    static final class Entry {
        final Bytes key;
        Object value;
        private @Nullable AlarmKey alarm;
        private long deadline;

        Entry(Bytes key, Object value) {
            this.key = key;
            this.value = value;
        }

        boolean expires() {
            return alarm != null;
        }
    }

    Keyspace(EventManager manager) {
        this.manager = manager;
    }

    @Nullable
    Entry find(CommandParser words, int word) {
        Entry entry = entries.get(view.at(words.bytes(), words.offset(word), words.length(word)));
        if (entry != null && entry.alarm != null && left(entry) <= 0) {
            remove(entry);
            return null;
        }
        return entry;
    }

    /** Adds a key that {@link #find} has just not found. */
    void add(CommandParser words, int word, Object value) {
        Bytes key =
                view.at(words.bytes(), words.offset(word), words.length(word)).copy();
        entries.put(key, new Entry(key, value));
    }

    /** Sets a string; in place, if the previous one has the same length, because no other code refers to it. */
    void set(CommandParser words, int word, int valueWord, boolean keepDeadline) {
        Entry entry = find(words, word);
        if (entry == null) {
            add(words, word, words.copy(valueWord));
            return;
        }
        if (!keepDeadline) {
            persist(entry);
        }
        int length = words.length(valueWord);
        if (entry.value instanceof byte[] present && present.length == length) {
            System.arraycopy(words.bytes(), words.offset(valueWord), present, 0, length);
        } else {
            entry.value = words.copy(valueWord);
        }
    }

    void remove(Entry entry) {
        persist(entry);
        entries.remove(entry.key, entry);
    }

    void clear() {
        entries.values().forEach(this::persist);
        entries.clear();
    }

    int size() {
        return entries.size();
    }

    int expiring() {
        return expiring;
    }

    // ---- Expiring ----

    /** Returns how many nanoseconds are left; the entry must expire. */
    long left(Entry entry) {
        return entry.deadline - manager.clock().nanoTime();
    }

    void expire(Entry entry, long nanos) {
        persist(entry);
        long deadline = manager.clock().nanoTime() + nanos;
        entry.deadline = deadline;
        entry.alarm = manager.schedule(
                deadline,
                fired -> {
                    if (fired) {
                        expireIfDue(entry, deadline);
                    }
                },
                Priority.NORMAL);
        expiring++;
    }

    /** Called by the alarm, perhaps when the entry has another deadline by now, or none. */
    private void expireIfDue(Entry entry, long deadline) {
        lock.lock();
        try {
            if (entry.alarm != null && entry.deadline == deadline) {
                remove(entry);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Makes an entry not expire any more. */
    void persist(Entry entry) {
        AlarmKey alarm = entry.alarm;
        if (alarm != null) {
            entry.alarm = null;
            expiring--;
            manager.cancel(alarm);
        }
    }

    @Override
    public String toString() {
        return entries.size() + " keys, " + expiring + " of them expire";
    }
}
