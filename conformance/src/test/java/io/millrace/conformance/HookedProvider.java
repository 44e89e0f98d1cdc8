package io.millrace.conformance;

import io.millrace.sys.Selector;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Found by the service loader: epoll with two places where a test can do what another thread might do at just that moment. So races
 * become tests that fail every time.
 */
public final class HookedProvider extends EpollProvider {
    static final String NAME = "hooked";

    private static @Nullable Runnable beforeSleep;
    private static @Nullable Runnable afterEvents;

    /** For the service loader. */
    public HookedProvider() {
        super(NAME);
    }

    /** Runs once, when the poll has decided to sleep and before it does. */
    static void beforeSleep(Runnable hook) {
        beforeSleep = hook;
    }

    /** Runs once, when the kernel has reported something and before the poll looks at it. */
    static void afterEvents(Runnable hook) {
        afterEvents = hook;
    }

    @Override
    Selector inFrontOf(Selector epoll) {
        return new DelegatingSelector(NAME, epoll) {
            @Override
            public int await(long timeoutNanos, int maxEvents) throws IOException {
                Runnable before = beforeSleep;
                if (timeoutNanos != 0 && before != null) {
                    beforeSleep = null;
                    before.run();
                }
                int found = super.await(timeoutNanos, maxEvents);
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
