package io.millrace.bench;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A million timers. Setting and cancelling happens on the loop's own thread where the peer has one, as in a server's idle timeouts.
 *
 * <p>Timers that fire do so over a second of real time, so what counts is not the time but the CPU of the whole process divided by their number:
 * {@code cpuNanos}. It contains the collector's.
 */
@State(Scope.Benchmark)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 1,
        jvmArgsAppend = {
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:+UseSerialGC",
            "-Xms3g",
            "-Xmx3g",
            "-Xmn1500m"
        })
public class EngineAlarmBench {
    private static final int LIVE = 1_000_000;
    private static final int BATCH = 10_000;
    private static final long SEED = 42;

    @Param({"millrace", "nettyEpoll", "nettyWheel", "stpe", "agrona"})
    public String peer;

    private Peer loop;
    private int left;
    private CountDownLatch done;
    private final Runnable count = () -> {
        if (--left == 0) {
            done.countDown();
        }
    };
    private static final Runnable NOTHING = () -> {};

    @Setup(Level.Trial)
    public void open() {
        loop = Peer.of(peer);
    }

    @TearDown(Level.Trial)
    public void close() {
        loop.close();
    }

    /** A million that stay. */
    @State(Scope.Benchmark)
    public static class Live {
        @Setup(Level.Trial)
        public void set(EngineAlarmBench bench) throws InterruptedException {
            SplittableRandom random = new SplittableRandom(SEED);
            bench.onLoop(() -> {
                for (int i = 0; i < LIVE; i++) {
                    bench.loop.schedule(random.nextLong(600_000_000_000L, 3_600_000_000_000L), NOTHING);
                }
            });
        }
    }

    private void onLoop(Runnable what) throws InterruptedException {
        CountDownLatch over = new CountDownLatch(1);
        loop.execute(() -> {
            what.run();
            over.countDown();
        });
        over.await();
    }

    @Benchmark
    @BenchmarkMode(Mode.AverageTime)
    @Warmup(iterations = 4, time = 500, timeUnit = TimeUnit.MILLISECONDS)
    @Measurement(iterations = 4, time = 500, timeUnit = TimeUnit.MILLISECONDS)
    @org.openjdk.jmh.annotations.OperationsPerInvocation(BATCH)
    public void setAndCancel(Live live) throws InterruptedException {
        SplittableRandom random = new SplittableRandom(SEED);
        onLoop(() -> {
            for (int i = 0; i < BATCH; i++) {
                loop.cancel(loop.schedule(random.nextLong(1_000_000_000L, 60_000_000_000L), NOTHING));
            }
        });
    }

    /** CPU of a timer that was set and fired. */
    @AuxCounters(AuxCounters.Type.EVENTS)
    @State(Scope.Thread)
    public static class Cpu {
        public double cpuNanos;

        @Setup(Level.Iteration)
        public void reset() {
            cpuNanos = 0;
        }
    }

    @Benchmark
    @BenchmarkMode(Mode.SingleShotTime)
    @Warmup(iterations = 4)
    @Measurement(iterations = 3)
    public void setAndFire(Cpu cpu) throws InterruptedException {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        SplittableRandom random = new SplittableRandom(SEED);
        done = new CountDownLatch(1);
        long before = system.getProcessCpuTime();
        onLoop(() -> {
            left = LIVE;
            for (int i = 0; i < LIVE; i++) {
                loop.schedule(random.nextLong(1_500_000_000L, 2_500_000_000L), count);
            }
        });
        if (loop instanceof Peer.Agrona agrona) {
            agrona.pollUntilEmpty();
        }
        done.await();
        cpu.cpuNanos = (double) (system.getProcessCpuTime() - before) / LIVE;
    }
}
