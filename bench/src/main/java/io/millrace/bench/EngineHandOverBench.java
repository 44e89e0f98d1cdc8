package io.millrace.bench;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Handing tasks to a loop, from the call to the end of the last task: a batch and a latch behind it. With two producers the score is per producer: a task costs
 * half of it.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 4, time = 500, timeUnit = TimeUnit.MILLISECONDS)
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
public class EngineHandOverBench {
    private static final int BATCH = 50_000;

    @Param({"millrace", "nettyEpoll", "nettyNio", "stpe"})
    public String peer;

    private Peer loop;
    /** Written by the loop's thread. */
    private long ran;

    private final Runnable task = () -> ran++;

    @Setup(Level.Trial)
    public void open() {
        loop = Peer.of(peer);
    }

    @TearDown(Level.Trial)
    public void close() {
        loop.close();
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long executeOneProducer() throws InterruptedException {
        return execute();
    }

    @Benchmark
    @Threads(2)
    @OperationsPerInvocation(BATCH)
    public long executeTwoProducers() throws InterruptedException {
        return execute();
    }

    private long execute() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        for (int i = 1; i < BATCH; i++) {
            loop.execute(task);
        }
        loop.execute(done::countDown);
        done.await();
        return ran;
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public Object runCancellable() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        Object last = null;
        for (int i = 1; i < BATCH; i++) {
            last = loop.submit(task);
        }
        loop.execute(done::countDown);
        done.await();
        return last;
    }
}
