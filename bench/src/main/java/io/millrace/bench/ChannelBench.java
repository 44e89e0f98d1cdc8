package io.millrace.bench;

import io.millrace.poll.Channel;
import io.millrace.poll.Offered;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jctools.queues.MpscArrayQueue;
import org.jctools.queues.MpscUnboundedArrayQueue;
import org.jspecify.annotations.Nullable;
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
 * Messages from one or two threads to another, from the first call to the last message's arrival: a batch and a latch behind it. Queues and channels have a consumer that never
 * sleeps; loops are as shipped. With two producers the score is per producer: a message costs half of it.
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
public class ChannelBench {
    private static final int BATCH = 50_000;
    /** Two batches fit. */
    private static final int CAPACITY = 1 << 17;

    private static final int CHUNK = 1024;
    private static final int SPINS = 1_000;

    @Param({
        "channelBounded",
        "channelUnbounded",
        "mpscArray",
        "mpscUnbounded",
        "concurrentLinkedQueue",
        "linkedTransferQueue",
        "millraceExecute",
        "nettyExecute"
    })
    public String peer;

    private Predicate<Runnable> send;
    private @Nullable Thread consumer;
    private @Nullable Peer loop;
    private volatile boolean over;
    /** Written by the consumer. */
    private long received;

    private final Runnable message = () -> received++;

    @Setup(Level.Trial)
    public void open() {
        switch (peer) {
            case "channelBounded" -> channel(Channel.bounded(CAPACITY));
            case "channelUnbounded" -> channel(Channel.unbounded());
            case "mpscArray" -> queue(new MpscArrayQueue<>(CAPACITY));
            case "mpscUnbounded" -> queue(new MpscUnboundedArrayQueue<>(CHUNK));
            case "concurrentLinkedQueue" -> queue(new ConcurrentLinkedQueue<>());
            case "linkedTransferQueue" -> queue(new LinkedTransferQueue<>());
            case "millraceExecute" -> loop(Peer.of("millrace"));
            case "nettyExecute" -> loop(Peer.of("nettyEpoll"));
            default -> throw new IllegalArgumentException(peer);
        }
    }

    private void channel(Channel<Runnable> channel) {
        send = item -> channel.send(item) instanceof Offered.Sent;
        consume(channel::poll);
    }

    private void queue(Queue<Runnable> queue) {
        send = queue::offer;
        consume(queue::poll);
    }

    private void loop(Peer peer) {
        loop = peer;
        send = item -> {
            peer.execute(item);
            return true;
        };
    }

    private void consume(Supplier<@Nullable Runnable> from) {
        consumer = Thread.ofPlatform().daemon().name("consumer").start(() -> {
            int idle = 0;
            while (!over) {
                Runnable item = from.get();
                if (item != null) {
                    item.run();
                    idle = 0;
                } else if (++idle < SPINS) {
                    Thread.onSpinWait();
                } else {
                    Thread.yield(); // two producers and a consumer may share two cores
                }
            }
        });
    }

    @TearDown(Level.Trial)
    public void close() throws InterruptedException {
        over = true;
        if (consumer != null) {
            consumer.join();
        }
        if (loop != null) {
            loop.close();
        }
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long oneProducer() throws InterruptedException {
        return send();
    }

    @Benchmark
    @Threads(2)
    @OperationsPerInvocation(BATCH)
    public long twoProducers() throws InterruptedException {
        return send();
    }

    private long send() throws InterruptedException {
        CountDownLatch arrived = new CountDownLatch(1);
        for (int i = 1; i < BATCH; i++) {
            send(message);
        }
        send(arrived::countDown);
        arrived.await();
        return received;
    }

    private void send(Runnable item) {
        while (!send.test(item)) {
            Thread.onSpinWait();
        }
    }
}
