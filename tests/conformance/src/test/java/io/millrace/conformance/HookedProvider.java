package io.millrace.conformance;

import io.millrace.sys.Selector;
import io.millrace.sys.SystemHandle;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Found by the service loader: each backend with places where a test can do what another thread might do at just that moment. So races
 * become tests that fail every time.
 */
public abstract class HookedProvider extends FrontProvider {
    /** In front of epoll. */
    public static final class Epoll extends HookedProvider {
        /** For the service loader. */
        public Epoll() {
            super("epoll");
        }
    }

    /** In front of poll(2). */
    public static final class Poll extends HookedProvider {
        /** For the service loader. */
        public Poll() {
            super("poll");
        }
    }

    /** In front of NIO. */
    public static final class Nio extends HookedProvider {
        /** For the service loader. */
        public Nio() {
            super("nio");
        }
    }

    /** In front of kqueue. */
    public static final class Kqueue extends HookedProvider {
        /** For the service loader. */
        public Kqueue() {
            super("kqueue");
        }
    }

    private static @Nullable Runnable beforeSleep;
    private static @Nullable Runnable afterEvents;
    private static @Nullable Runnable afterModify;
    private static final AtomicInteger UNTIL_REFUSED = new AtomicInteger();
    private static boolean refusesModify;
    private static volatile long timeoutNanos;

    private final String behind;

    private HookedProvider(String behind) {
        super(nameFor(behind), behind);
        this.behind = behind;
    }

    /** The name of the backend that stands in front of this one. */
    static String nameFor(String backend) {
        return "hooked-" + backend;
    }

    /** Runs once, when the poll has decided to sleep and before it does. */
    static void beforeSleep(Runnable hook) {
        beforeSleep = hook;
    }

    /** Runs once, when the kernel has reported something and before the poll looks at it. */
    static void afterEvents(Runnable hook) {
        afterEvents = hook;
    }

    /** Runs once, when the kernel knows of a reregistration and before the caller goes on. */
    static void afterModify(Runnable hook) {
        afterModify = hook;
    }

    /** One registration from now on is refused, as by a kernel that has no room for it: the first, the second, and so on; 0 for none. */
    static void refuse(int which) {
        UNTIL_REFUSED.set(which);
    }

    /** Once, the system refuses a reregistration. */
    static void refuseModify() {
        refusesModify = true;
    }

    /** How long the last wait may take; for {@link #beforeSleep}. */
    static long timeoutNanos() {
        return timeoutNanos;
    }

    @Override
    Selector inFrontOf(Selector real) {
        return new DelegatingSelector(nameFor(behind), real) {
            @Override
            public void add(SystemHandle handle, long key, int interest, int trigger) throws IOException {
                if (UNTIL_REFUSED.getAndUpdate(left -> Math.max(0, left - 1)) == 1) {
                    throw new ErrnoException("epoll_ctl", -1, Errno.ENOSPC.code());
                }
                super.add(handle, key, interest, trigger);
            }

            @Override
            public void modify(SystemHandle handle, long key, int interest, int trigger) throws IOException {
                if (refusesModify) {
                    refusesModify = false;
                    throw new IOException("refused by the test");
                }
                super.modify(handle, key, interest, trigger);
                Runnable after = afterModify;
                if (after != null) {
                    afterModify = null;
                    after.run();
                }
            }

            @Override
            public int await(long timeout, int maxEvents) throws IOException {
                timeoutNanos = timeout;
                Runnable before = beforeSleep;
                if (timeout != 0 && before != null) {
                    beforeSleep = null;
                    before.run();
                }
                int found = super.await(timeout, maxEvents);
                Runnable after = afterEvents;
                if (found > 0 && after != null) {
                    afterEvents = null;
                    after.run();
                }
                return found;
            }
        };
    }
}
