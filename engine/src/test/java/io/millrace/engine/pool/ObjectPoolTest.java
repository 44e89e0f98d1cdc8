package io.millrace.engine.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("mill-6: objects that are used again")
class ObjectPoolTest {
    private final AtomicInteger made = new AtomicInteger();
    private final List<Object> log = new ArrayList<>();

    private final List<Throwable> reports = new ArrayList<>();

    private ObjectPool.Builder<String> strings() {
        return ObjectPool.<String>builder(() -> "object " + made.incrementAndGet())
                .onError(reports::add);
    }

    @Test
    void anObjectIsMadeOnceAndUsedAgain_mill6() {
        try (ObjectPool<String> pool = strings().open()) {
            for (int i = 0; i < 10; i++) {
                try (Pooled<String> pooled = pool.acquire()) {
                    assertThat(pooled.get()).isEqualTo("object 1");
                }
            }
            try (Pooled<String> one = pool.acquire();
                    Pooled<String> other = pool.acquire()) {
                assertThat(one.get()).isEqualTo("object 1");
                assertThat(other.get()).as("none is idle: another is made").isEqualTo("object 2");
                assertThat(pool.metrics().inUse()).isEqualTo(2);
            }
            assertThat(pool.metrics()).isEqualTo(new ObjectPoolMetrics(2, 12, 2, 0));
        }
    }

    @Test
    void closingAHandleTwiceReturnsItsObjectOnce_mill6() {
        ObjectPool<String> pool = strings().open();
        Pooled<String> pooled = pool.acquire();

        pooled.close();
        pooled.close();

        assertThat(pool.metrics().idle()).isEqualTo(1);
        assertThat(pool.acquire().get()).isEqualTo("object 1");
        assertThat(pool.acquire().get()).isEqualTo("object 2");
    }

    @Test
    void aHandleClosedAgainLaterDoesNotReturnItsObjectsNextOwner_mill6() {
        ObjectPool<String> pool = strings().open();
        Pooled<String> old = pool.acquire();
        old.close();
        Pooled<String> next = pool.acquire();
        assertThat(next.get()).isEqualTo("object 1");

        old.close();

        assertThat(pool.metrics().idle()).isZero();
        assertThat(pool.acquire().get()).isEqualTo("object 2");
        assertThat(next.get()).isEqualTo("object 1");
        assertThatThrownBy(old::get)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed")
                .hasMessageContaining("pool of objects");
    }

    @Test
    void prefillMakesThemBeforeTheFirstUse_mill6() {
        ObjectPool<String> pool = strings().prefill(3).open();
        assertThat(made).hasValue(3);
        assertThat(pool.metrics()).isEqualTo(new ObjectPoolMetrics(3, 0, 3, 0));

        assertThat(pool.acquire().get()).isEqualTo("object 1");
    }

    @Test
    void noMoreThanMaxIdleAreKept_mill6() {
        for (int maxIdle : new int[] {0, 1, 2, 3, 5}) {
            log.clear();
            ObjectPool<String> pool =
                    strings().maxIdle(maxIdle).destroy(log::add).open();
            List<Pooled<String>> out = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                out.add(pool.acquire());
            }

            out.forEach(Pooled::close);

            assertThat(pool.metrics()).isEqualTo(new ObjectPoolMetrics(8, 8, maxIdle, 8 - maxIdle));
            assertThat(log).as("destroyed").hasSize(8 - maxIdle).doesNotHaveDuplicates();
        }
    }

    @Test
    void theResetHookRunsWhenAnObjectComesBack_mill6() {
        ObjectPool<StringBuilder> pool = ObjectPool.<StringBuilder>builder(StringBuilder::new)
                .reset(text -> text.setLength(0))
                .open();
        try (Pooled<StringBuilder> pooled = pool.acquire()) {
            pooled.get().append("of the first user");
        }

        assertThat(pool.acquire().get()).isEmpty();
    }

    @Test
    void aResetThatThrowsDropsTheObjectReportsItAndLosesNothing_mill6() {
        ObjectPool<String> pool = strings()
                .reset(text -> {
                    if (text.endsWith("1")) {
                        throw new AssertionError("cannot reset " + text);
                    }
                })
                .destroy(log::add)
                .open();
        Pooled<String> bad = pool.acquire();
        Pooled<String> good = pool.acquire();

        bad.close();
        good.close();

        assertThat(pool.metrics()).isEqualTo(new ObjectPoolMetrics(2, 2, 1, 1));
        assertThat(log).containsExactly("object 1");
        assertThat(pool.acquire().get()).isEqualTo("object 2");
        assertThat(reports)
                .singleElement()
                .isInstanceOf(AssertionError.class)
                .asString()
                .endsWith("cannot reset object 1");
    }

    @Test
    void aDestroyHookThatThrowsIsReportedAndTheOthersAreDestroyed_mill6() {
        ObjectPool<String> pool = strings()
                .prefill(3)
                .destroy(text -> {
                    log.add(text);
                    throw new IllegalStateException("cannot destroy");
                })
                .open();

        pool.close();

        assertThat(log).containsExactly("object 1", "object 2", "object 3");
        assertThat(reports).hasSize(3);
    }

    @Test
    void anErrorHookThatThrowsDoesNotReachTheOneWhoCloses_mill6() {
        RuntimeException shared = new IllegalStateException("thrown twice");
        ObjectPool<String> pool = strings()
                .reset(text -> {
                    throw shared;
                })
                .onError(failure -> {
                    reports.add(failure);
                    throw shared;
                })
                .open();

        pool.acquire().close();

        assertThat(reports).containsExactly(shared);
        assertThat(pool.metrics()).isEqualTo(new ObjectPoolMetrics(1, 1, 0, 1));
    }

    @Test
    void aFactoryThatThrowsChangesNothing_mill6() {
        ObjectPool<String> pool = ObjectPool.<String>of(() -> {
            throw new IllegalStateException("no more");
        });
        assertThatThrownBy(pool::acquire).hasMessage("no more");
        ObjectPool<String> nulls = ObjectPool.<String>of(() -> null);
        assertThatThrownBy(nulls::acquire).hasMessageContaining("factory");

        assertThat(pool.metrics()).isEqualTo(new ObjectPoolMetrics(0, 0, 0, 0));
        assertThat(nulls.metrics()).isEqualTo(new ObjectPoolMetrics(0, 0, 0, 0));
    }

    @Test
    void aFactoryThatThrowsDuringThePrefillLeavesNothingBehind_mill6() {
        ObjectPool.Builder<String> builder = ObjectPool.<String>builder(() -> {
                    if (made.incrementAndGet() == 3) {
                        throw new IllegalStateException("no more");
                    }
                    return "object " + made;
                })
                .prefill(5)
                .destroy(log::add);

        assertThatThrownBy(builder::open).hasMessage("no more");

        assertThat(log).containsExactly("object 1", "object 2");
    }

    @Test
    void closeDropsIdleObjectsAndLaterThoseThatAreOut_mill6() {
        ObjectPool<String> pool = strings().prefill(2).destroy(log::add).open();
        Pooled<String> out = pool.acquire();

        pool.close();
        pool.close();

        assertThat(log).containsExactly("object 2");
        assertThat(out.get()).as("still usable").isEqualTo("object 1");
        out.close();
        assertThat(log).containsExactly("object 2", "object 1");
        assertThat(pool.metrics()).isEqualTo(new ObjectPoolMetrics(2, 1, 0, 2));
        assertThatThrownBy(pool::acquire).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aBufferHasTheSizeThatWasAskedFor_mill6() {
        for (boolean direct : new boolean[] {false, true}) {
            for (int size : new int[] {1, 1_000, 8_192}) {
                ObjectPool<ByteBuffer> pool = ObjectPool.ofBuffers(size, direct);
                try (Pooled<ByteBuffer> pooled = pool.acquire()) {
                    ByteBuffer buffer = pooled.get();
                    assertThat(buffer.capacity()).isEqualTo(size);
                    assertThat(buffer.isDirect()).isEqualTo(direct);
                    buffer.order(ByteOrder.LITTLE_ENDIAN).position(1).limit(1);
                }
                ByteBuffer again = pool.acquire().get();
                assertThat(again.remaining()).as("cleared").isEqualTo(size);
                assertThat(again.order()).isEqualTo(ByteOrder.BIG_ENDIAN);
                assertThat(pool.metrics().created()).isEqualTo(1);
            }
        }
    }

    @Test
    void hooksMayUseThePoolThemselves_mill6() {
        List<ObjectPool<String>> self = new ArrayList<>();
        ObjectPool<String> pool = strings()
                .reset(text -> log.add(self.getFirst().metrics()))
                .destroy(text -> self.getFirst().close())
                .open();
        self.add(pool);
        Pooled<String> one = pool.acquire();
        Pooled<String> other = pool.acquire();
        one.close();
        other.close();

        pool.close();

        assertThat(pool.metrics()).isEqualTo(new ObjectPoolMetrics(2, 2, 0, 2));
        assertThat(log).hasSize(2);
    }

    @Test
    void badSettingsAreRefused_mill6() {
        assertThatThrownBy(() -> ObjectPool.ofBuffers(0, true)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> strings().maxIdle(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> strings().prefill(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> strings().maxIdle(2).prefill(3).open())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("maxIdle");
        assertThat(made).hasValue(0);
    }

    @Test
    void toStringIsALineForABugReport_mill6() {
        ObjectPool<ByteBuffer> pool = ObjectPool.ofBuffers(8_192, true);
        Pooled<ByteBuffer> pooled = pool.acquire();

        assertThat(pool)
                .hasToString("pool of direct buffers of 8192 bytes, 1 in use, 0 of 256 idle, 1 created, 1 acquired, 0"
                        + " dropped");
        assertThat(pooled.toString()).startsWith("pooled java.nio.Direct");
        pooled.close();
        assertThat(pooled).hasToString("pooled, closed");
    }
}
