package io.millrace.bench.peers;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Asks {@link GrpcEcho}: {@code --connections N} with {@code --depth D} calls under way on each, or in {@code --mode stream} D messages of one stream; {@code --bytes B} each.
 * Netty's epoll on one thread; it warms itself up for {@code --warmup} seconds, and counts for {@code --seconds}.
 */
public final class GrpcLoad {
    private static final long PATIENCE_SECONDS = 20;

    private final Histogram latencies = new Histogram(3);
    private final byte[] message;
    private boolean counting;
    private boolean ended;
    private long messages;

    private GrpcLoad(int bytes) {
        this.message = new byte[bytes];
    }

    public static void main(String[] arguments) throws Exception {
        String usage = "GrpcLoad --port P --pid P [--mode unary|stream] [--connections N] [--depth D] [--bytes B]"
                + " [--warmup SECONDS] [--seconds SECONDS]";
        Options options = new Options(
                arguments,
                usage,
                "--port",
                "--pid",
                "--mode",
                "--connections",
                "--depth",
                "--bytes",
                "--warmup",
                "--seconds");
        GrpcLoad load = new GrpcLoad((int) options.number("--bytes", 64, 0, 1 << 20));
        System.out.println(load.run(options));
    }

    private String run(Options options) throws Exception {
        int port = (int) options.number("--port", 0, 1, 65_535);
        long pid = options.number("--pid", 0, 0, Long.MAX_VALUE);
        boolean streams = options.text("--mode", "unary").equals("stream");
        long depth = options.number("--depth", 10, 1, 10_000);
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        List<ManagedChannel> channels = new ArrayList<>();
        for (long i = options.number("--connections", 10, 1, 10_000); i > 0; i--) {
            ManagedChannel channel = NettyChannelBuilder.forAddress(new InetSocketAddress("127.0.0.1", port))
                    .usePlaintext()
                    .directExecutor()
                    .eventLoopGroup(loop)
                    .channelType(EpollSocketChannel.class)
                    .build();
            channels.add(channel);
            if (streams) {
                new Stream(channel).begin(depth);
            } else {
                for (long call = 0; call < depth; call++) {
                    new Calls(channel).next();
                }
            }
        }
        TimeUnit.SECONDS.sleep(options.number("--warmup", 3, 0, 60));
        onLoop(loop, () -> counting = true);
        ServerCpu before = ServerCpu.of(pid);
        long began = System.nanoTime();
        TimeUnit.SECONDS.sleep(options.number("--seconds", 3, 1, 600));
        onLoop(loop, () -> counting = false);
        double seconds = (System.nanoTime() - began) / 1e9;
        ServerCpu used = ServerCpu.of(pid).minus(before);
        onLoop(loop, () -> ended = true);
        for (ManagedChannel channel : channels) {
            channel.shutdownNow().awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
        loop.shutdownGracefully(0, PATIENCE_SECONDS, TimeUnit.SECONDS).sync();
        return new Json()
                .add("messages", messages)
                .add("messagesPerSecond", messages / seconds)
                .add("p50us", latencies.getValueAtPercentile(50) / 1e3)
                .add("p99us", latencies.getValueAtPercentile(99) / 1e3)
                .add("serverCpuSeconds", used.total())
                .add("serverUserSeconds", used.user())
                .add("serverSystemSeconds", used.system())
                .toString();
    }

    /** All callbacks run there, so nothing here is locked. */
    private static void onLoop(EventLoopGroup loop, Runnable task) throws Exception {
        CompletableFuture.runAsync(task, loop.next()).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    private void answered(long askedNanos) {
        if (counting) {
            messages++;
            latencies.recordValue(System.nanoTime() - askedNanos);
        }
    }

    private void failed(Throwable failure) {
        if (!ended) {
            System.err.println("a call failed: " + failure);
            Runtime.getRuntime().halt(1);
        }
    }

    /** One call at a time. */
    private final class Calls implements StreamObserver<byte[]> {
        private final ManagedChannel channel;
        private long asked;

        Calls(ManagedChannel channel) {
            this.channel = channel;
        }

        void next() {
            asked = System.nanoTime();
            ClientCalls.asyncUnaryCall(channel.newCall(GrpcEcho.UNARY, CallOptions.DEFAULT), message, this);
        }

        @Override
        public void onNext(byte[] answer) {
            answered(asked);
        }

        @Override
        public void onError(Throwable failure) {
            failed(failure);
        }

        @Override
        public void onCompleted() {
            if (!ended) {
                next();
            }
        }
    }

    /** Some messages of one stream at a time; the latency is that of all of them together. */
    private final class Stream implements StreamObserver<byte[]> {
        private final StreamObserver<byte[]> requests;
        private long asked = System.nanoTime();

        Stream(ManagedChannel channel) {
            this.requests =
                    ClientCalls.asyncBidiStreamingCall(channel.newCall(GrpcEcho.STREAM, CallOptions.DEFAULT), this);
        }

        void begin(long depth) {
            for (long i = 0; i < depth; i++) {
                requests.onNext(message);
            }
        }

        @Override
        public void onNext(byte[] answer) {
            answered(asked);
            asked = System.nanoTime();
            if (!ended) {
                requests.onNext(message);
            }
        }

        @Override
        public void onError(Throwable failure) {
            failed(failure);
        }

        @Override
        public void onCompleted() {
            // Ends with its connection.
        }
    }
}
