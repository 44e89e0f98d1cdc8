package io.millrace.engine.reactor;

import java.util.concurrent.atomic.AtomicLong;

/**
 * References and shutdown of a manager in one atomic word. Exactly one caller finds that the manager has to end, and no
 * reference can be taken after that.
 */
public final class Lifecycle {
    private static final long SHUTDOWN = 1;
    private static final long ENDING = 2;
    private static final long ONE_REF = 4;

    private final AtomicLong word = new AtomicLong();
    private final Object owner;

    public Lifecycle(Object owner) {
        this.owner = owner;
    }

    public void ref() {
        long seen = word.getAndUpdate(old -> (old & ENDING) != 0 ? old : old + ONE_REF);
        if ((seen & ENDING) != 0) {
            throw new IllegalStateException(
                    "cannot hold a reference: " + owner + " has shut down; take it before you shut down");
        }
    }

    /** Releases a reference. Returns true if the caller must end the manager. */
    public boolean unref() {
        long seen = word.getAndUpdate(old -> old < ONE_REF ? old : endIfDue(old - ONE_REF));
        if (seen < ONE_REF) {
            throw new IllegalStateException(
                    "cannot take back a reference: there is none; each shutdownUnref must follow a shutdownRef");
        }
        return isTime(seen - ONE_REF);
    }

    /** Requests the end. Returns true if the caller must end the manager. */
    public boolean shutdown() {
        long seen = word.getAndUpdate(old -> endIfDue(old | SHUTDOWN));
        return isTime(seen | SHUTDOWN);
    }

    /** Requests the end regardless of references. Returns true if the caller must end the manager. */
    public boolean force() {
        return (word.getAndUpdate(old -> old | SHUTDOWN | ENDING) & ENDING) == 0;
    }

    private static boolean isTime(long word) {
        return (word & (SHUTDOWN | ENDING)) == SHUTDOWN && word < ONE_REF;
    }

    private static long endIfDue(long word) {
        return isTime(word) ? word | ENDING : word;
    }

    public boolean isShutdown() {
        return (word.get() & SHUTDOWN) != 0;
    }

    public long refs() {
        return word.get() / ONE_REF;
    }
}
