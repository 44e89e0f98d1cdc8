package io.millrace.engine.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** mill-6: whatever is closed by whom and how often, nobody gets an object that another one has, and each is destroyed once. */
class ObjectPoolStressTest {
    private static final int FACTOR = Boolean.getBoolean("millrace.soak") ? 50 : 1;

    private static final int BATCH = 2_000;

    /** Knows whether somebody has it. */
    private static final class Owned {
        final AtomicInteger owners = new AtomicInteger();
        final AtomicInteger destroyed = new AtomicInteger();
    }

    private final AtomicReference<@Nullable Throwable> wrong = new AtomicReference<>();

    @Test
    void twoThreadsThatCloseOneHandleReturnItsObjectOnce_mill6() throws Exception {
        for (int batch = 0; batch < 20 * FACTOR; batch++) {
            ObjectPool<Object> pool =
                    ObjectPool.builder(Object::new).maxIdle(2 * BATCH).open();
            List<Pooled<Object>> handles = new ArrayList<>();
            for (int i = 0; i < BATCH; i++) {
                handles.add(pool.acquire());
            }

            inStep(i -> handles.get(i).close(), i -> handles.get(i).close());

            assertThat(pool.metrics()).isEqualTo(new ObjectPoolMetrics(BATCH, BATCH, BATCH, 0));
        }
    }

    @Test
    void twoObjectsThatComeBackAtOnceDoNotBothGetTheLastPlace_mill6() throws Exception {
        for (int batch = 0; batch < 20 * FACTOR; batch++) {
            List<ObjectPool<Object>> pools = new ArrayList<>();
            List<Pooled<Object>> some = new ArrayList<>();
            List<Pooled<Object>> others = new ArrayList<>();
            for (int i = 0; i < BATCH; i++) {
                ObjectPool<Object> pool =
                        ObjectPool.builder(Object::new).maxIdle(1).open();
                pools.add(pool);
                some.add(pool.acquire());
                others.add(pool.acquire());
            }

            inStep(i -> some.get(i).close(), i -> others.get(i).close());

            assertThat(pools).extracting(ObjectPool::metrics).containsOnly(new ObjectPoolMetrics(2, 2, 1, 1));
        }
    }

    @Test
    void nobodyGetsAnObjectThatAnotherOneHas_mill6() throws Exception {
        long seed = System.nanoTime();
        int threads = 4;
        LongAdder made = new LongAdder();
        LongAdder destroyed = new LongAdder();
        ObjectPool<Owned> pool = ObjectPool.<Owned>builder(() -> {
                    made.increment();
                    return new Owned();
                })
                .maxIdle(3)
                .reset(owned -> expect(owned.owners.get() == 0, "reset while somebody has it"))
                .destroy(owned -> {
                    destroyed.increment();
                    expect(owned.destroyed.incrementAndGet() == 1, "destroyed twice");
                })
                .open();
        // Handles that everybody closes again and again, long after the object has other owners.
        AtomicReference<@Nullable Pooled<Owned>> old = new AtomicReference<>();
        CyclicBarrier start = new CyclicBarrier(threads);
        List<Thread> users = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Random random = new Random(seed + i);
            users.add(start(() -> {
                start.await(10, TimeUnit.SECONDS);
                for (int round = 0; round < 50_000 * FACTOR && wrong.get() == null; round++) {
                    // Two each: more come back than may stay.
                    Pooled<Owned> first = own(pool);
                    Pooled<Owned> second = own(pool);
                    Pooled<Owned> stale = random.nextBoolean() ? old.get() : null;
                    if (stale != null) {
                        stale.close();
                    }
                    disown(first);
                    disown(second);
                    expect(pool.metrics().idle() <= 3, "too many idle");
                    if (random.nextInt(4) == 0) {
                        old.set(first);
                    }
                }
            }));
        }
        for (Thread user : users) {
            user.join();
        }
        pool.close();

        assertThat(wrong.get()).as("seed %d", seed).isNull();
        assertThat(pool.metrics())
                .as("seed %d", seed)
                .isEqualTo(new ObjectPoolMetrics(made.sum(), (long) threads * 100_000 * FACTOR, 0, made.sum()));
        assertThat(destroyed.sum()).isEqualTo(made.sum());
    }

    private Pooled<Owned> own(ObjectPool<Owned> pool) {
        Pooled<Owned> pooled = pool.acquire();
        Owned owned = pooled.get();
        expect(owned.owners.incrementAndGet() == 1, "two owners");
        expect(owned.destroyed.get() == 0, "handed out after it was destroyed");
        return pooled;
    }

    private static void disown(Pooled<Owned> pooled) {
        pooled.get().owners.decrementAndGet();
        pooled.close();
    }

    @Test
    void anObjectThatComesBackWhileThePoolClosesIsNotForgotten_mill6() throws Exception {
        for (int batch = 0; batch < 20 * FACTOR; batch++) {
            AtomicInteger destroyed = new AtomicInteger();
            List<ObjectPool<Object>> pools = new ArrayList<>();
            List<Pooled<Object>> handles = new ArrayList<>();
            for (int i = 0; i < BATCH; i++) {
                ObjectPool<Object> pool = ObjectPool.builder(Object::new)
                        .maxIdle(2)
                        .destroy(object -> destroyed.incrementAndGet())
                        .open();
                pools.add(pool);
                handles.add(pool.acquire());
            }

            inStep(i -> handles.get(i).close(), i -> pools.get(i).close());

            assertThat(pools).allMatch(pool -> pool.metrics().idle() == 0);
            assertThat(destroyed).hasValue(BATCH);
        }
    }

    /** Two threads, each with its part of every step. They wait for each other, but not long: the other may have lost its processor. */
    private void inStep(IntConsumer one, IntConsumer other) throws Exception {
        AtomicIntegerArray at = new AtomicIntegerArray(64);
        Thread thread = start(() -> walk(at, 0, 32, one));
        walk(at, 32, 0, other);
        thread.join();
        assertThat(wrong.get()).isNull();
    }

    private static void walk(AtomicIntegerArray at, int mine, int theirs, IntConsumer step) {
        for (int i = 0; i < BATCH; i++) {
            at.set(mine, i);
            for (int spins = 0; spins < 500 && at.get(theirs) < i; spins++) {
                Thread.onSpinWait();
            }
            step.accept(i);
        }
    }

    private interface Work {
        void run() throws Exception;
    }

    private Thread start(Work work) {
        return Thread.ofPlatform().daemon().start(() -> {
            try {
                work.run();
            } catch (Throwable e) {
                wrong.compareAndSet(null, e);
            }
        });
    }

    private void expect(boolean condition, String otherwise) {
        if (!condition) {
            wrong.compareAndSet(null, new AssertionError(otherwise));
        }
    }
}
