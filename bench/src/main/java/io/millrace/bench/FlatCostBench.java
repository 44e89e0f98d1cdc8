package io.millrace.bench;

import io.millrace.net.Net;
import io.millrace.net.Pipe;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
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

/** tip-3: one active source among many idle ones. Flat on epoll, linear on poll(2), and flat for software sources on both. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 1,
        jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC"})
public class FlatCostBench {
    /** Idle descriptors: both ends of pipes, so half as many pipes. */
    @State(Scope.Thread)
    public static class Descriptors {
        @Param({"epoll", "poll"})
        public String backend = "";

        @Param({"10", "1000", "18000"})
        public int registered;

        private Poll poll;
        private Events events;
        private final List<Pipe> pipes = new ArrayList<>();
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(64);

        @Setup(Level.Trial)
        public void open() throws IOException {
            poll = Poll.builder().backend(backend).open();
            events = Events.withCapacity(1024);
            for (int i = 0; i < registered / 2; i++) {
                Pipe pipe = Net.of(poll).pipe();
                pipes.add(pipe);
                poll.register(pipe.source(), i, Interest.READABLE, Trigger.EDGE);
                poll.register(pipe.sink(), -i, Interest.READABLE, Trigger.EDGE);
            }
            while (poll.poll(events, Duration.ZERO) > 0) {
                // what the kernel reports of new descriptors
            }
        }

        @TearDown(Level.Trial)
        public void close() {
            poll.close();
            for (Pipe pipe : pipes) {
                pipe.source().close();
                pipe.sink().close();
            }
        }
    }

    /** Idle software sources. */
    @State(Scope.Thread)
    public static class Software {
        @Param({"10", "1000", "100000"})
        public int registered;

        private Poll poll;
        private Events events;
        private Registration active;

        @Setup(Level.Trial)
        public void open() {
            poll = Poll.open();
            events = Events.withCapacity(1024);
            for (int i = 0; i < registered; i++) {
                active = new Registration();
                poll.register(active, i, Interest.READABLE, Trigger.EDGE);
            }
        }

        @TearDown(Level.Trial)
        public void close() {
            poll.close();
        }
    }

    @Benchmark
    public int descriptors(Descriptors state) throws IOException {
        Pipe pipe = state.pipes.getLast();
        state.buffer.clear().limit(1);
        pipe.sink().tryWrite(state.buffer);
        int found = state.poll.poll(state.events, Duration.ZERO);
        state.buffer.clear();
        pipe.source().tryRead(state.buffer);
        return found;
    }

    @Benchmark
    public int software(Software state) {
        state.active.setReadiness(Readiness.READABLE);
        return state.poll.poll(state.events, Duration.ZERO);
    }
}
