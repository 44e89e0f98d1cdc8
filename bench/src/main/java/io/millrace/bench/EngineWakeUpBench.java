package io.millrace.bench;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
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

/** A task for a loop that sleeps in the kernel, until it has run. The caller spins meanwhile, so that one wake-up is measured, not two. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 20, time = 500, timeUnit = TimeUnit.MILLISECONDS)
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
public class EngineWakeUpBench {
    @Param({"millrace", "nettyEpoll", "nettyNio", "stpe"})
    public String peer;

    private Peer loop;
    private volatile boolean ran;
    private final Runnable task = () -> ran = true;

    @Setup(Level.Trial)
    public void open() {
        loop = Peer.of(peer);
    }

    @TearDown(Level.Trial)
    public void close() {
        loop.close();
    }

    /** Time for the loop to fall asleep. */
    @Setup(Level.Invocation)
    public void pause() {
        ran = false;
        LockSupport.parkNanos(200_000);
    }

    @Benchmark
    public void wakeUp() {
        loop.execute(task);
        while (!ran) {
            Thread.onSpinWait();
        }
    }
}
