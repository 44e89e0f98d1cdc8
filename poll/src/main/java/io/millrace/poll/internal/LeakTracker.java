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
 * Finds sources that were dropped without close: closes what they held, and reports each once with where it was made (mr-7).
 *
 * <p>A source tracks itself when it is made and ends that when it is closed. If it is collected first, the next {@link #sweep} finds its
 * reference in the queue. There is no thread for it: whoever makes a source and whoever polls sweeps, which costs one load if there is
 * nothing to find.
 *
 * <p>Where a source was made is a stack trace, and that is dear; so only one of {@value #SAMPLE} sources has it by default. {@code
 * -Dmillrace.leaks=all} records every one, {@code off} none; the descriptor is closed in any case.
 *
 * <p><b>Why nothing is closed twice.</b> The closer is the same one that the source's own close runs, and that is idempotent: it ends in {@code
 * Descriptor.close}, where one word decides who closes the number. It runs after the source is unreachable, so no call of the source is under
 * way: each ends in a reachability fence.
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
     * Tracks a source that has just been made.
     *
     * @param source watched for being dropped
     * @param kind what it is, for the report
     * @param detail which one, for the report; without a reference to the source
     * @param closer closes what it holds; idempotent, and without a reference to the source
     * @return to be told when the source is closed
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

    /** The source was closed as it should be: nothing to report. Idempotent. */
    public void closed() {
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
            return; // closed while it was on its way into the queue
        }
        closer.run();
        String where = madeHere == null
                ? "; start java with -D" + PROPERTY + "=all to learn where such sources are made"
                : "; it was made here:";
        System.getLogger("io.millrace")
                .log(
                        Level.WARNING,
                        "leak: " + kind + " " + detail + " was collected without close(); it is closed now" + where,
                        madeHere);
    }
}
