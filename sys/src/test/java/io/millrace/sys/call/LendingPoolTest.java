package io.millrace.sys.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("end-8: what virtual threads borrow")
class LendingPoolTest {
    private static final class Thing {
        final AtomicBoolean inUse = new AtomicBoolean();
    }

    private final LendingPool<Thing> pool = new LendingPool<>(4);

    @Test
    @DisplayName("is lent to one at a time, by many threads at once")
    void lentToOneAtATime() throws Exception {
        AtomicInteger shared = new AtomicInteger();
        AtomicInteger made = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            threads.add(Thread.ofVirtual().start(() -> {
                for (int round = 0; round < 20_000; round++) {
                    Thing thing = pool.take();
                    if (thing == null) {
                        made.incrementAndGet();
                        thing = new Thing();
                    }
                    if (!thing.inUse.compareAndSet(false, true)) {
                        shared.incrementAndGet();
                    }
                    if (round % 64 == 0) {
                        Thread.yield(); // another thread's turn on this carrier
                    }
                    thing.inUse.set(false);
                    pool.giveBack(thing);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(shared).hasValue(0);
        assertThat(made.get()).isLessThan(8 * 20_000);
    }

    @Test
    @DisplayName("is kept up to a bound, each once")
    void keptUpToABound() {
        for (int i = 0; i < 10; i++) {
            pool.giveBack(new Thing());
        }

        Set<Thing> taken = new HashSet<>();
        for (Thing thing = pool.take(); thing != null; thing = pool.take()) {
            assertThat(taken.add(thing)).isTrue();
        }
        assertThat(taken).hasSize(4);
    }
}
