package io.millrace.poll.internal;

import java.lang.System.Logger.Level;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Finds sources that were dropped without close: closes what they held, and reports each once with the place where it
 * was created (mr-7).
 *
 * <p>A source is tracked when it is created, until it is closed. If it is garbage-collected first, the next {@link
 * #sweep} finds its reference in the queue. There is no thread for this: threads that create sources or poll also
 * sweep, which costs one load if there is nothing to find.
 *
 * <p>The place of creation is a stack trace, which is expensive; so by default only one source in {@value #SAMPLE} has
 * it. {@code -Dmillrace.leaks=all} records it for every source, {@code off} for none; the descriptor is closed in any
 * case.
 *
 * <p><b>Why nothing is closed twice.</b> The closer is the one that the source's own close runs, and it is idempotent:
 * it ends in {@code Descriptor.close}, where one atomic word decides which thread closes the number. It runs after the
 * source has become unreachable, so no call of the source is in progress: each ends with a reachability fence.
 */
public final class LeakTracker extends PhantomReference<Object> {
    private static final int SAMPLE = 128;
    private static final String PROPERTY = "millrace.leaks";

    private static final ReferenceQueue<Object> QUEUE = new ReferenceQueue<>();
    /** Keeps the references themselves reachable. */
    private static final Set<LeakTracker> TRACKED = ConcurrentHashMap.newKeySet();

    private static final AtomicInteger MADE = new AtomicInteger();

    private final String kind;
    private final Object detail;
    private final Runnable closer;
    private final @Nullable Throwable madeHere;

    private LeakTracker(Object source, String kind, Object detail, Runnable closer, @Nullable Throwable madeHere) {
        super(source, QUEUE);
        this.kind = kind;
        this.detail = detail;
        this.closer = closer;
        this.madeHere = madeHere;
    }

    /**
     * Tracks a source that has just been created.
     *
     * @param source the source to track
     * @param kind what it is, for the report
     * @param detail which one it is, for the report; must not refer to the source
     * @param closer closes what it holds; idempotent, and must not refer to the source
     * @return a tracker, to {@link #forget} when the source is closed
     */
    public static LeakTracker track(Object source, String kind, Object detail, Runnable closer) {
        sweep();
        LeakTracker leak =
                new LeakTracker(source, kind, detail, closer, isSampled() ? new Throwable("made here") : null);
        TRACKED.add(leak);
        return leak;
    }

    private static boolean isSampled() {
        return switch (System.getProperty(PROPERTY, "sampled").toLowerCase(Locale.ROOT)) {
            case "off" -> false;
            case "all" -> true;
            default -> MADE.getAndIncrement() % SAMPLE == 0;
        };
    }

    /** Stops tracking, because the source was closed. Idempotent. */
    public void forget() {
        TRACKED.remove(this);
        clear();
    }

    /** Closes and reports what was dropped since the last sweep. Any thread. */
    public static void sweep() {
        for (Object found = QUEUE.poll(); found != null; found = QUEUE.poll()) {
            ((LeakTracker) found).report();
        }
    }

    private void report() {
        if (!TRACKED.remove(this)) {
            return; // closed while its reference was on its way into the queue
        }
        Throwable failure = close();
        String where = madeHere == null
                ? "; start java with -D" + PROPERTY + "=all to learn where such sources are made"
                : "; it was made here:";
        String outcome = failure == null ? "it is closed now" : "it could not be closed now, because of " + failure;
        try {
            System.getLogger("io.millrace")
                    .log(
                            Level.WARNING,
                            "leak: " + kind + " " + detail + " was collected without close(); " + outcome + where,
                            madeHere);
        } catch (Throwable e) {
            // The user's logger threw. That is not the fault of the thread that sweeps, which may be a loop's (end-1).
        }
    }

    private @Nullable Throwable close() {
        try {
            closer.run();
            return null;
        } catch (Throwable e) {
            return e;
        }
    }
}
