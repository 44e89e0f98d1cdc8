package io.millrace.bench;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * uni-11: n values, made, completed and taken, by a set and by its peers; divide by n. JMH measures one after the other: for ratios on a machine that
 * is not quiet use {@link TaskFigures}, which takes turns.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 1,
        jvmArgsAppend = {"-XX:+UseSerialGC", "-Xms3g", "-Xmx3g", "-Xmn2g"})
public class UnorderedBench {
    @Param({"1000", "10000", "100000", "1000000"})
    public int children;

    @Param
    public Completions by;

    @Param
    public Completions.Order order;

    @Benchmark
    public void complete() throws Exception {
        if (children <= by.largest()) {
            by.runChecked(children, order);
        }
    }
}
