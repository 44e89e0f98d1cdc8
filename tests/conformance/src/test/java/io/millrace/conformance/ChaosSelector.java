package io.millrace.conformance;

import io.millrace.sys.Selector;
import java.io.IOException;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * Another selector, made as unpleasant as the contract of {@link Selector} allows: events come in any order, a wait may end without a reason
 * (as by EINTR) or begin late, and may bring fewer events than were asked for. It never ends two waits in a row for nothing, so that a
 * correct caller makes progress.
 */
final class ChaosSelector extends DelegatingSelector {
    private static final int MAX_DELAY_NANOS = 500_000;

    private final Random random;

    // Of the last wait. The waiting thread only.
    private long[] keys = new long[128];
    private int[] readiness = new int[128];
    private boolean endedForNothing;

    ChaosSelector(Selector real, long seed) {
        super(ChaosProvider.NAME, real);
        this.random = new Random(seed);
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
        int found = super.await(timeoutNanos, limit);
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
            keys[at] = super.key(i);
            readiness[at] = super.readiness(i);
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
}
