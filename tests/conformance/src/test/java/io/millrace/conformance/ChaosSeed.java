package io.millrace.conformance;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * Where {@link ChaosSelector} gets its seeds: one for the run, or that of {@code -Dmillrace.chaos.seed}; in every test the selectors
 * count from there. A test that fails prints what repeats it.
 */
final class ChaosSeed implements BeforeEachCallback, TestWatcher {
    private static final String PROPERTY = "millrace.chaos.seed";
    private static final long SEED = Long.getLong(PROPERTY, System.nanoTime());
    private static final AtomicLong NEXT = new AtomicLong(SEED);

    static long next() {
        return NEXT.getAndIncrement();
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        NEXT.set(SEED);
    }

    @Override
    public void testFailed(ExtensionContext context, Throwable cause) {
        System.err.println(context.getDisplayName() + " failed with -D" + PROPERTY + "=" + SEED);
    }
}
