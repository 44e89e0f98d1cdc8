package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.net.Pipe;
import io.millrace.net.UdpSocket;
import io.millrace.poll.Clock;
import io.millrace.poll.Event;
import io.millrace.poll.Interest;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Source;
import io.millrace.poll.SourceHandle;
import io.millrace.poll.Trigger;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Idle registrations cost nothing. The tests count work: system calls, reads of the clock, CPU time of this one thread.
 */
@DisplayName("Scale")
public abstract class ScaleContract extends PollContract {
    private static final int VIRTUAL_THREADS = 2_000;

    private static final int IDLE_SOURCES = 100_000;
    private static final int IDLE_DESCRIPTORS = Boolean.getBoolean("millrace.soak") ? 9_000 : 1_000;
    private static final int POLLS = 2_000;

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

    /** How often {@link Source#handle} was called: the only way in which a poll could reach a source. */
    private final AtomicLong looks = new AtomicLong();

    private final AtomicLong clockReads = new AtomicLong();

    /** What a number of polls cost. */
    private record Cost(long waits, long looks, long clockReads) {}

    /**
     * Creates a suite for one backend.
     *
     * @param backend the backend to test
     */
    protected ScaleContract(TestedBackend backend) {
        super(backend);
    }

    @Test
    @DisplayName("tip-3: one active of 100,000 software sources costs what one of ten does")
    void idleSoftwareSourcesCostNothing() {
        poll = open(builder().clock(countingClock()));
        Registration active = closing(new Registration());
        poll.register(active, 1, Interest.READABLE, Trigger.EDGE);
        registerIdle(9);
        pollMany(active); // classes are loaded, code is compiled
        pollMany(active);
        Cost few = pollMany(active);
        long fewNanos = leastCpu(active);

        registerIdle(IDLE_SOURCES - 10);
        Cost many = pollMany(active);
        long manyNanos = leastCpu(active);

        assertThat(many).isEqualTo(few);
        assertThat(many.looks()).isZero();
        // One look at each idle source would multiply it by ten thousand, which is far beyond noise.
        assertThat(manyNanos).as("CPU for " + POLLS + " polls").isLessThan(20 * fewNanos + 20_000_000);
    }

    private void registerIdle(int count) {
        for (int i = 0; i < count; i++) {
            Registration idle = new Registration();
            Source watched = () -> {
                looks.incrementAndGet();
                return handle(idle);
            };
            poll.register(watched, 2, Interest.READABLE, Trigger.LEVEL);
        }
        looks.set(0);
    }

    private static SourceHandle handle(Registration registration) {
        return registration;
    }

    private Cost pollMany(Registration active) {
        long waits = poll.waits();
        long reads = clockReads.get();
        for (int i = 0; i < POLLS; i++) {
            active.setReadiness(Readiness.READABLE);
            poll.poll(events, NOW);
            if (events.size() != 1) {
                throw new AssertionError("poll " + i + " found " + events);
            }
        }
        return new Cost(poll.waits() - waits, looks.get(), clockReads.get() - reads);
    }

    private long leastCpu(Registration active) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            long before = threads.getCurrentThreadCpuTime();
            pollMany(active);
            least = Math.min(least, threads.getCurrentThreadCpuTime() - before);
        }
        return least;
    }

    private Clock countingClock() {
        return () -> {
            clockReads.incrementAndGet();
            return System.nanoTime();
        };
    }

    @Test
    @DisplayName("tip-3: one active of many descriptors takes one look at the kernel, and finds that one")
    void idleDescriptorsAreNotReported() {
        for (int i = 0; i < IDLE_DESCRIPTORS; i++) {
            Pipe idle = pipe();
            poll.register(idle.source(), 2, Interest.READABLE, i % 2 == 0 ? Trigger.LEVEL : Trigger.EDGE);
        }
        SocketPair active = socketPair();
        poll.register(active.left(), 1, Interest.READABLE, Trigger.EDGE);
        assertThat(pollNow()).isEmpty();
        for (int i = 0; i < 100; i++) {
            Bytes.write(active.right(), 1);
            long before = poll.waits();
            assertThat(pollSoon()).containsExactly(new Event(1, Readiness.READABLE));
            assertThat(poll.waits() - before).isLessThanOrEqualTo(backend().patience(2));
            Bytes.drain(active.left());
        }
        boolean linear = backend().name().equals("poll");
        assertThat(poll.report().remark().contains("linear"))
                .as(poll.report().toString())
                .isEqualTo(linear);
    }

    @Test
    @DisplayName("end-8: thousands of virtual threads that did I/O once, and live, hold no native memory each")
    void livingVirtualThreadsHoldNoNativeMemory() throws Exception {
        SocketPair pair = socketPair();
        UdpSocket udp = closing(net().udp(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)));
        ByteBuffer heap = ByteBuffer.allocate(64 << 10);
        ByteBuffer[] several = {ByteBuffer.allocate(16), ByteBuffer.allocate(16)};
        Background.Work everything = () -> {
            pair.left().tryWrite(heap.clear().limit(1));
            pair.right().tryRead(heap.clear());
            pair.right().tryRead(new ByteBuffer[] {several[0].clear(), several[1].clear()}, 0, 2);
            udp.tryReceive(heap.clear());
            pair.left().linger();
        };
        everything.run(); // loads what is loaded once
        long before = directBytes();

        CountDownLatch end = new CountDownLatch(1);
        AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < VIRTUAL_THREADS; i++) {
            CountDownLatch done = new CountDownLatch(1);
            threads.add(Thread.ofVirtual().start(() -> {
                try {
                    everything.run();
                    done.countDown();
                    end.await();
                } catch (Exception e) {
                    failure.set(e);
                    done.countDown();
                }
            }));
            // One after the other, so that they share the buffers.
            assertThat(done.await(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        }
        System.gc();
        long held = directBytes() - before;
        end.countDown();
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(failure.get()).isNull();
        // Memory for copies per thread would alone be ten times as much.
        assertThat(held / VIRTUAL_THREADS)
                .as("bytes of native memory for each of %d living threads", VIRTUAL_THREADS)
                .isLessThan(7 << 10);
    }

    private static long directBytes() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }
}
