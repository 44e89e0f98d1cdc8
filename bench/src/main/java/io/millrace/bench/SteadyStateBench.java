package io.millrace.bench;

import io.millrace.net.Net;
import io.millrace.net.Pipe;
import io.millrace.poll.Channel;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Timer;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
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

/**
 * What one event costs from its cause to the cursor, and that it allocates nothing: run with {@code -prof gc}.
 *
 * <p>Each operation causes one event, polls without waiting, reads it by the cursor and drains it. The poll includes its system call,
 * because a poll that finds software events still looks for the kernel's.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 1,
        jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC"})
public class SteadyStateBench {
    @Param({"epoll", "poll"})
    public String backend = "";

    private Poll poll;
    private Events events;
    private Registration registration;
    private Channel<String> channel;
    private Timer<String> timer;
    private Pipe pipe;
    private ByteBuffer direct;
    private ByteBuffer heap;
    private long sum;

    @Setup(Level.Trial)
    public void open() throws IOException {
        poll = Poll.builder().backend(backend).open();
        events = Events.withCapacity(1024);
        registration = new Registration();
        channel = Channel.bounded(1024);
        timer = Timer.withTick(Duration.ofNanos(1));
        pipe = Net.of(poll).pipe();
        direct = ByteBuffer.allocateDirect(64);
        heap = ByteBuffer.allocate(64);
        poll.register(registration, 1, Interest.READABLE, Trigger.EDGE);
        poll.register(channel, 2, Interest.READABLE, Trigger.LEVEL);
        poll.register(timer, 3, Interest.READABLE, Trigger.EDGE);
        poll.register(pipe.source(), 4, Interest.READABLE, Trigger.EDGE);
    }

    @TearDown(Level.Trial)
    public void close() {
        poll.close();
        pipe.source().close();
        pipe.sink().close();
    }

    /** A software source: set, poll, read. */
    @Benchmark
    public long registration() {
        registration.setReadiness(Readiness.READABLE);
        return drain();
    }

    /** A channel over an array queue: send, poll, receive. */
    @Benchmark
    public long channel() {
        channel.send("message");
        long tokens = drain();
        while (channel.poll() != null) {
            tokens++;
        }
        return tokens;
    }

    /** A timeout that is due at once: set, poll, take. */
    @Benchmark
    public long timer() {
        timer.set(Duration.ZERO, "value");
        long tokens = drain();
        while (timer.poll() != null) {
            tokens++;
        }
        return tokens;
    }

    /** A descriptor, direct buffer: write a byte, poll, read it. */
    @Benchmark
    public long pipeDirect() throws IOException {
        return pipe(direct);
    }

    /** A descriptor, direct and heap buffers mixed in one JVM. */
    @Benchmark
    public long pipeMixed() throws IOException {
        return pipe((sum++ & 1) == 0 ? direct : heap);
    }

    private long pipe(ByteBuffer buffer) throws IOException {
        buffer.clear().limit(1);
        pipe.sink().tryWrite(buffer);
        long tokens = drain();
        buffer.clear();
        pipe.source().tryRead(buffer);
        return tokens;
    }

    private long drain() {
        poll.poll(events, Duration.ZERO);
        long tokens = 0;
        while (events.advance()) {
            tokens += events.token();
        }
        return tokens;
    }
}
