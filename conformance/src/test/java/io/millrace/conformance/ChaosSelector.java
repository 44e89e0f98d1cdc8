package io.millrace.conformance;

import io.millrace.sys.Family;
import io.millrace.sys.Handle;
import io.millrace.sys.Selector;
import java.io.IOException;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * Another selector, made as unpleasant as the contract of {@link Selector} allows: events come in any order, a wait may end without a reason
 * (as by EINTR) or begin late, and may bring fewer events than were asked for. It never disturbs two waits in a row, so that a
 * correct caller makes progress.
 */
final class ChaosSelector implements Selector {
    private static final int MAX_DELAY_NANOS = 500_000;

    private final Selector real;
    private final Random random;

    // Of the last wait. The waiting thread only.
    private long[] keys = new long[128];
    private int[] readiness = new int[128];
    private boolean endedForNothing;

    ChaosSelector(Selector real, long seed) {
        this.real = real;
        this.random = new Random(seed);
    }

    @Override
    public String name() {
        return ChaosProvider.NAME;
    }

    @Override
    public int await(long timeoutNanos, int maxEvents) throws IOException {
        // A look that does not wait is never interrupted, not by a real kernel either.
        if (timeoutNanos != 0 && !endedForNothing && random.nextInt(3) == 0) {
            endedForNothing = true;
            return 0;
        }
        endedForNothing = false;
        if (random.nextInt(16) == 0) {
            LockSupport.parkNanos(random.nextInt(MAX_DELAY_NANOS));
        }
        int limit = random.nextInt(3) == 0 ? 1 + random.nextInt(maxEvents) : maxEvents;
        int found = real.await(timeoutNanos, limit);
        takeShuffled(found);
        return found;
    }

    private void takeShuffled(int found) {
        if (found > keys.length) {
            keys = new long[found * 2];
            readiness = new int[found * 2];
        }
        for (int i = 0; i < found; i++) {
            // Each event goes to a random place among those before it.
            int at = random.nextInt(i + 1);
            keys[i] = keys[at];
            readiness[i] = readiness[at];
            keys[at] = real.key(i);
            readiness[at] = real.readiness(i);
        }
    }

    @Override
    public long key(int event) {
        return keys[event];
    }

    @Override
    public int readiness(int event) {
        return readiness[event];
    }

    @Override
    public Family family() {
        return real.family();
    }

    @Override
    public boolean controlsAtOnce() {
        return real.controlsAtOnce();
    }

    @Override
    public void add(Handle handle, long key, int interest, int trigger) throws IOException {
        real.add(handle, key, interest, trigger);
    }

    @Override
    public void modify(Handle handle, long key, int interest, int trigger) throws IOException {
        real.modify(handle, key, interest, trigger);
    }

    @Override
    public void remove(Handle handle, long key) throws IOException {
        real.remove(handle, key);
    }

    @Override
    public boolean emulatesTriggers() {
        return real.emulatesTriggers();
    }

    @Override
    public boolean rearm(long key, int ready) {
        return real.rearm(key, ready);
    }

    @Override
    public void wake() {
        real.wake();
    }

    @Override
    public void close() {
        real.close();
    }

    @Override
    public String toString() {
        return "chaos over " + real;
    }
}
