package io.millrace.sys;

import io.millrace.sys.selector.SingleWait;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The threads that wait for one handle by {@link SingleWait}, so that a close ends their waits.
 *
 * <p>A use keeps a closing descriptor open, and whoever waits holds one: without this, a close would wait for an event that may never
 * come. A waiter adds itself first and looks whether the handle is closing second; a close marks the handle first and comes here second. So
 * either the waiter sees the mark or the close sees the waiter.
 */
public final class Waiters {
    /** Null while nobody waits, which is nearly always. Changed under this object's monitor. */
    private volatile @Nullable List<Runnable> wakers;

    public synchronized void add(Runnable waker) {
        List<Runnable> more = wakers == null ? new ArrayList<>() : new ArrayList<>(wakers);
        more.add(waker);
        wakers = more;
    }

    /** After this, the waker is not called any more. */
    public synchronized void remove(Runnable waker) {
        List<Runnable> present = wakers;
        if (present != null) {
            List<Runnable> fewer = new ArrayList<>(present);
            fewer.remove(waker);
            wakers = fewer.isEmpty() ? null : fewer;
        }
    }

    /** By a close, after it marked the handle. Costs a load if nobody waits. */
    void wakeAll() {
        if (wakers != null) {
            wakeThose();
        }
    }

    private synchronized void wakeThose() {
        List<Runnable> present = wakers;
        if (present != null) {
            present.forEach(Runnable::run);
        }
    }
}
