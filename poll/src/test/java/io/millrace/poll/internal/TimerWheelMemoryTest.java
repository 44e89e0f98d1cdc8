package io.millrace.poll.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What a {@link TimerWheel} allocates. */
class TimerWheelMemoryTest {
    private static final long TICK = 1_000_000;

    @Test
    @DisplayName("end-5: growing to a million entries never copies them: no call allocates more than a few chunks")
    void noCallAllocatesMoreThanAFewChunks() throws Throwable {
        int million = 1_000_000;
        TimerWheel<Integer> large = new TimerWheel<>(TICK, 4_096, million, 0);
        long most = 0;
        for (int i = 0; i < million; i++) {
            long before = allocated();
            large.schedule(0, 5_000 * TICK + i, 1);
            most = Math.max(most, allocated() - before);
        }
        // Without polling: what is due stays.
        do {
            long before = allocated();
            large.advance(6_000 * TICK, 1_000);
            most = Math.max(most, allocated() - before);
        } while (large.isBehind());
        assertThat(large.dueCount()).isEqualTo(million);
        assertThat(most).isLessThan(1 << 19);
    }

    @Test
    @DisplayName("A wheel with a few entries is small: slots, and less than 4,096 bytes")
    void aSmallWheelIsSmall() throws Throwable {
        int slots = 256;
        long bytes = Long.MAX_VALUE;
        for (int round = 0; round < 3; round++) {
            long before = allocated();
            TimerWheel<Integer> small = new TimerWheel<>(TICK, slots, 1_000, 0);
            for (int i = 0; i < 10; i++) {
                small.schedule(0, TICK, i);
            }
            small.advance(TICK);
            bytes = Math.min(bytes, allocated() - before);
            assertThat(small.dueCount()).isEqualTo(10);
        }
        assertThat(bytes).isLessThan(slots * Integer.BYTES + 4_096);
    }

    private static final MethodHandle ALLOCATED = handle();

    /** {@code com.sun.management.ThreadMXBean}, which this module does not read, so by method handle. */
    private static MethodHandle handle() {
        try {
            Object bean = Class.forName("java.lang.management.ManagementFactory")
                    .getMethod("getThreadMXBean")
                    .invoke(null);
            return MethodHandles.publicLookup()
                    .findVirtual(
                            Class.forName("com.sun.management.ThreadMXBean"),
                            "getCurrentThreadAllocatedBytes",
                            MethodType.methodType(long.class))
                    .bindTo(bean);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static long allocated() throws Throwable {
        return (long) ALLOCATED.invokeExact();
    }
}
