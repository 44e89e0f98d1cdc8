package io.millrace.bench;

import java.util.SplittableRandom;
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
 * The structures that keep deadlines, without the engines around them: a million live ones, each from 10 minutes to an hour away, and the work on top of them.
 *
 * <p>Some have a thread and a clock of their own, some are turned by hand, so the time on the wall says nothing. What counts is {@code cpuNanos}: the CPU time of the
 * caller's thread and of the wheel's own, if it has one, for each operation; without collections. A million that expire do so within a second, in ticks of a millisecond.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 6)
@Measurement(iterations = 5)
@Fork(
        value = 1,
        jvmArgsAppend = {
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:+UseSerialGC",
            "-Xms4g",
            "-Xmx4g",
            "-Xmn2g"
        })
public class WheelBench {
    private static final int LIVE = 1_000_000;
    private static final int BATCH = 200_000;
    private static final long SECOND = 1_000_000_000L;

    @Param({"millrace", "nettyWheel", "stpe", "agrona", "bare"})
    public String peer;

    private Wheel wheel;
    private final SplittableRandom random = new SplittableRandom(42);
    private long later = 3_600 * SECOND;

    @Setup(Level.Trial)
    public void open() {
        wheel = Wheel.of(peer, 2 * LIVE);
    }

    @TearDown(Level.Trial)
    public void close() {
        wheel.close();
    }

    /** A million that stay. */
    @State(Scope.Benchmark)
    public static class Live {
        @Setup(Level.Trial)
        public void set(WheelBench bench) throws InterruptedException {
            for (int i = 0; i < LIVE; i++) {
                bench.wheel.insert(i, bench.random.nextLong(600 * SECOND, 3_600 * SECOND));
            }
            bench.wheel.settle();
        }
    }

    /** What an operation cost. */
    @AuxCounters(AuxCounters.Type.EVENTS)
    @State(Scope.Thread)
    public static class Cpu {
        public double cpuNanos;

        @Setup(Level.Iteration)
        public void reset() {
            cpuNanos = 0;
        }
    }

    /** One that is not inserted yet has a handle from here on. */
    private static int fresh(int i) {
        return LIVE + i;
    }

    @TearDown(Level.Iteration)
    public void cancelInserted() throws InterruptedException {
        for (int i = 0; i < LIVE; i++) {
            wheel.cancel(fresh(i));
        }
        wheel.settle();
    }

    @Benchmark
    public void insert(Live live, Cpu cpu) throws InterruptedException {
        long begin = wheel.cpuNanos();
        for (int i = 0; i < BATCH; i++) {
            wheel.insert(fresh(i), random.nextLong(SECOND, 60 * SECOND));
        }
        wheel.settle();
        cpu.cpuNanos = (double) (wheel.cpuNanos() - begin) / BATCH;
    }

    /** As timeouts that every packet pushes back, on connections in no order. */
    @Benchmark
    public void moveLater(Live live, Cpu cpu) throws InterruptedException {
        long begin = wheel.cpuNanos();
        for (int i = 0; i < LIVE; i++) {
            wheel.move(random.nextInt(LIVE), later += 1_000);
        }
        wheel.settle();
        cpu.cpuNanos = (double) (wheel.cpuNanos() - begin) / LIVE;
    }

    /** A million live ones that all expire. */
    @Benchmark
    public void insertAndExpire(Cpu cpu) throws InterruptedException {
        wheel.expect(LIVE);
        long begin = wheel.cpuNanos();
        for (int i = 0; i < LIVE; i++) {
            wheel.insert(fresh(i), SECOND + random.nextLong(SECOND));
        }
        wheel.expire(LIVE);
        cpu.cpuNanos = (double) (wheel.cpuNanos() - begin) / LIVE;
    }
}
