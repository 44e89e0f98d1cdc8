package io.millrace.sys;

import io.millrace.sys.selector.SingleWait;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The threads that wait for one handle in {@link SingleWait}, so that a close can end their waits.
 *
 * <p>A use keeps a closing descriptor open, and a waiting thread holds one; without this class, a close would have to
 * wait for an event that may never come. A waiter first adds itself and then checks whether the handle is closing; a
 * close first marks the handle and then comes here. So either the waiter sees the mark, or the close sees the waiter.
 */
public final class Waiters {
    /** Null while no thread waits, which is nearly always. Changed under this object's monitor. */
    private volatile @Nullable List<Runnable> wakers;

    public synchronized void add(Runnable waker) {
        List<Runnable> more = wakers == null ? new ArrayList<>() : new ArrayList<>(wakers);
        more.add(waker);
        wakers = more;
    }

    /** Removes a waker, which is not called any more after this returns. */
    public synchronized void remove(Runnable waker) {
        List<Runnable> present = wakers;
        if (present != null) {
            List<Runnable> fewer = new ArrayList<>(present);
            fewer.remove(waker);
            wakers = fewer.isEmpty() ? null : fewer;
        }
    }

    /** Called by a close, after it marked the handle. Costs a load if no thread waits. */
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
