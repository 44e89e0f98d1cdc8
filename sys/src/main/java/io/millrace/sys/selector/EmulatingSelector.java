package io.millrace.sys.selector;

import io.millrace.sys.Bits;
import io.millrace.sys.KernelKey;
import io.millrace.sys.Selector;
import io.millrace.sys.SystemHandle;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Edge and one-shot triggers over a mechanism that has only levels: poll(2) and NIO.
 *
 * <p>Each entry remembers which bits were <em>reported</em> since they were last drained. An edge entry reports only
 * bits that are not in that set; {@link #rearm}, called when the owner met would-block, removes them again. Masking is
 * lazy: a reported bit stays in the kernel's set until it comes up a second time undrained, so a handler that drains
 * costs no change of the set at all. Because the mechanism is level-triggered, a re-armed direction that is still ready
 * is found by the next wait: nothing can be lost between would-block and re-arm.
 *
 * <p><b>Results and terms.</b> A result may be read long after the wait that found it: a caller takes few at a time,
 * and another thread may change the terms during the wait. Under new terms, an old result would look like a hang-up
 * outside the interest, and would silence the handle for good. So each change of what is asked is a new {@link
 * Entry#question}, and an answer to an old one is dropped. Nothing is lost by that: what is ready answers the new
 * question, too, in the next wait.
 *
 * <p>Everything here is guarded by {@link #lock}, which is not held during the kernel's wait. A change that comes
 * during the wait is queued and applied when the wait is over ({@link Selector#controlsAtOnce()} is false, so the
 * caller wakes the waiter); otherwise it is applied at once. What may take long is done after the lock is released: a
 * queued removal may drop the last use of a descriptor and close it, which may block with SO_LINGER, and logging may
 * block, too.
 */
abstract class EmulatingSelector implements Selector {
    /** One watched handle. Guarded by the selector's lock. */
    static final class Entry {
        final SystemHandle handle;
        final long key;
        int interest;
        int trigger;
        /** Bits that were reported and not drained since; meaningful for EDGE only. */
        int reported;
        /** What the mechanism is asked for now; 0 is nothing at all, not even hang-up. */
        int watched;
        /**
         * How often what is asked has changed: a result belongs to the question that it answers, see {@link #report}.
         */
        int question;
        /** The mechanism's place for it: a position, or unused. */
        int position = -1;

        boolean attached;
        boolean removed;

        Entry(SystemHandle handle, long key, int interest, int trigger) {
            this.handle = handle;
            this.key = key;
            this.interest = interest;
            this.trigger = trigger;
        }

        boolean hasEdges() {
            return trigger == Bits.EDGE && handle.reportsWouldBlock();
        }
    }

    final Object lock = new Object();
    private final ArrayDeque<Runnable> queued = new ArrayDeque<>();
    /** Tasks for the waiting thread when it holds no lock. Guarded by {@link #lock}. */
    private List<Runnable> afterwards = new ArrayList<>();

    private @Nullable Entry[] entries = new Entry[64];
    private boolean waiting;

    private long[] keys = new long[128];
    private int[] readiness = new int[128];
    private int count;

    /** Starts to watch {@code entry.watched}. Under the lock, not during a wait. */
    abstract void attach(Entry entry) throws IOException;

    /** Makes the mechanism watch {@code entry.watched}. Under the lock, not during a wait. */
    abstract void watch(Entry entry);

    /** Forgets the entry. Under the lock, not during a wait. */
    abstract void detach(Entry entry);

    /** Performs the kernel's wait, without the lock; reports nothing yet. */
    abstract void block(long timeoutNanos) throws IOException;

    /** Calls {@link #report} for what the wait found, until {@link #full}. Under the lock. */
    abstract void collect();

    /**
     * Returns whether the mechanism must be told again although our bits did not change (a NIO channel that has been
     * connected).
     */
    boolean isStale(Entry entry) {
        return false;
    }

    @Override
    public final boolean controlsAtOnce() {
        return false;
    }

    @Override
    public final boolean emulatesTriggers() {
        return true;
    }

    @Override
    public final void add(SystemHandle handle, long key, int interest, int trigger) throws IOException {
        if (!handle.acquire()) {
            throw new ClosedChannelException();
        }
        try {
            check(handle);
            Entry entry = new Entry(handle, key, interest, trigger);
            entry.watched = interest;
            synchronized (lock) {
                int index = KernelKey.index(key);
                if (waiting) {
                    queued.add(() -> attachQuietly(entry));
                } else {
                    attach(entry);
                    entry.attached = true;
                }
                if (index >= entries.length) {
                    entries = Arrays.copyOf(entries, Math.max(index + 1, entries.length * 2));
                }
                entries[index] = entry;
            }
        } catch (Throwable thrown) {
            handle.release();
            throw thrown;
        }
    }

    /** Throws if something is wrong with a handle, while the caller can still be told. */
    abstract void check(SystemHandle handle) throws IOException;

    /** Called when a handle that passed {@link #check} is removed. Under the lock. */
    void forget(SystemHandle handle) {}

    @Override
    public final void modify(SystemHandle handle, long key, int interest, int trigger) {
        synchronized (lock) {
            Entry entry = find(key);
            if (entry == null) {
                return;
            }
            runOrQueue(() -> {
                entry.interest = interest;
                entry.trigger = trigger;
                entry.reported = 0;
                setWatched(entry, interest);
            });
        }
    }

    @Override
    public final void remove(SystemHandle handle, long key) {
        synchronized (lock) {
            Entry entry = find(key);
            if (entry == null) {
                return;
            }
            entries[KernelKey.index(key)] = null;
            entry.removed = true;
            forget(handle);
            if (waiting) {
                queued.add(() -> {
                    afterwards.add(entry.handle::release);
                    detachIfAttached(entry);
                });
            } else {
                release(entry);
            }
        }
    }

    @Override
    public final boolean rearm(long key, int drained) {
        synchronized (lock) {
            Entry entry = find(key);
            if (entry == null) {
                return false;
            }
            // A drained direction may report its closing again, too; an error stays reported until modify.
            entry.reported &= ~(drained | (drained & (Bits.READABLE | Bits.WRITABLE)) << 4);
            int wanted = entry.hasEdges() ? entry.interest & ~entry.reported : entry.watched;
            if ((wanted & ~entry.watched) == 0 && !isStale(entry)) {
                return false;
            }
            runOrQueue(() -> setWatched(entry, entry.watched | (entry.interest & wanted)));
            return waiting;
        }
    }

    private void runOrQueue(Runnable change) {
        if (waiting) {
            queued.add(change);
        } else {
            change.run();
        }
    }

    private void setWatched(Entry entry, int watched) {
        entry.watched = watched;
        entry.question++;
        if (entry.attached) {
            watch(entry);
        }
    }

    /** A handle that was closed between its check and now stays silent: there is nothing to watch. */
    private void attachQuietly(Entry entry) {
        if (entry.removed) {
            return;
        }
        try {
            attach(entry);
            entry.attached = true;
        } catch (IOException e) {
            afterwards.add(() -> System.getLogger("io.millrace")
                    .log(System.Logger.Level.DEBUG, () -> name() + ": not watching " + entry.handle, e));
        }
    }

    private void release(Entry entry) {
        try {
            detachIfAttached(entry);
        } finally {
            entry.handle.release();
        }
    }

    private void detachIfAttached(Entry entry) {
        if (entry.attached) {
            entry.attached = false;
            detach(entry);
        }
    }

    private @Nullable Entry find(long key) {
        int index = KernelKey.index(key);
        Entry entry = index < entries.length ? entries[index] : null;
        return entry != null && entry.key == key ? entry : null;
    }

    @Override
    public final int await(long timeoutNanos, int maxEvents) throws IOException {
        synchronized (lock) {
            if (maxEvents > keys.length) {
                keys = new long[maxEvents];
                readiness = new int[maxEvents];
            }
            count = 0;
            limit = maxEvents;
            waiting = true;
        }
        boolean over = false;
        try {
            block(timeoutNanos);
            over = true;
        } finally {
            endWait(over);
        }
        return count;
    }

    private void endWait(boolean over) {
        List<Runnable> late = List.of();
        try {
            synchronized (lock) {
                waiting = false;
                try {
                    applyQueued();
                } finally {
                    late = takeAfterwards();
                }
                if (over) {
                    // Not after a failure: an edge recorded as reported, and then lost to an exception, would not come
                    // again.
                    collect();
                }
            }
        } finally {
            late.forEach(Runnable::run);
        }
    }

    private List<Runnable> takeAfterwards() {
        if (afterwards.isEmpty()) {
            return List.of();
        }
        List<Runnable> taken = afterwards;
        afterwards = new ArrayList<>();
        return taken;
    }

    /** Applies all queued changes; if one fails, that is reported after the others. Under the lock. */
    private void applyQueued() {
        RuntimeException failure = null;
        for (Runnable change = queued.poll(); change != null; change = queued.poll()) {
            try {
                change.run();
            } catch (RuntimeException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private int limit;

    final boolean full() {
        return count == limit;
    }

    /**
     * Decides by the entry's trigger whether {@code ready}, which the mechanism found, is an event.
     *
     * @param question the {@link Entry#question} during the wait that found it
     */
    final void report(Entry entry, int question, int ready) {
        if (entry.removed || entry.question != question) {
            return;
        }
        int seen = Bits.visible(ready, entry.interest);
        if (entry.hasEdges()) {
            int fresh = seen & ~entry.reported;
            if (fresh != 0) {
                entry.reported |= fresh;
                emit(entry, fresh);
            } else {
                mask(entry);
            }
        } else if (seen == 0) {
            // A hang-up outside the interest would come for ever: silent until the interest changes.
            setWatched(entry, 0);
        } else {
            emit(entry, seen);
            if (entry.trigger == Bits.ONESHOT) {
                setWatched(entry, 0);
            }
        }
    }

    /** Called if nothing is new: leaves out what was reported, or everything if that was not enough to silence it. */
    private void mask(Entry entry) {
        int wanted = entry.interest & ~entry.reported;
        setWatched(entry, wanted == entry.watched ? 0 : wanted);
    }

    private void emit(Entry entry, int seen) {
        keys[count] = entry.key;
        readiness[count] = seen;
        count++;
    }

    @Override
    public final long key(int event) {
        return keys[event];
    }

    @Override
    public final int readiness(int event) {
        return readiness[event];
    }

    /** Drops every use; for {@link #close}. */
    final void releaseAll() {
        // A queued removal holds a use as well.
        endWait(false);
        synchronized (lock) {
            for (int i = 0; i < entries.length; i++) {
                Entry entry = entries[i];
                if (entry != null) {
                    entries[i] = null;
                    entry.removed = true;
                    release(entry);
                }
            }
        }
    }
}
