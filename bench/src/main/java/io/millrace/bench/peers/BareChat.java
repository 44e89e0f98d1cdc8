package io.millrace.bench.peers;

import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.XAddArgs;
import io.lettuce.core.XReadArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.nats.client.Connection;
import io.nats.client.Dispatcher;
import io.nats.client.JetStream;
import io.nats.client.JetStreamApiException;
import io.nats.client.Nats;
import io.nats.client.PushSubscribeOptions;
import io.nats.client.api.AckPolicy;
import io.nats.client.api.ConsumerConfiguration;
import io.nats.client.api.DeliverPolicy;
import io.nats.client.api.DiscardPolicy;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.handler.codec.LineBasedFrameDecoder;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A chat room on several nodes as one writes it with Netty and a client of Redis or NATS, and nothing between the two: a client's
 * first line is its name, and what else it says reaches everybody on all nodes. No presence, no history, and no word about lines
 * that were lost: what is left is what a chat over an engine costs at least.
 *
 * <p>{@code --engine redis} (Lettuce: XADD, and XREAD that waits), {@code nats} (jnats: publish and subscribe, which NATS
 * does not keep) or {@code jetstream} (jnats: a stream in files, and a push consumer); {@code --at PORT} is where it listens;
 * {@code --port P} (0: the kernel chooses).
 *
 * <p>One event loop of Netty's for all members; the clients of the engines have the threads that they make by default.
 */
public final class BareChat {
    private static final String ROOM = "bare-room";
    private static final int HISTORY = 1_000;
    private static final int LONGEST_LINE = 1_100;

    private final MultiThreadIoEventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    /** On the loop only. */
    private final Set<Channel> members = new LinkedHashSet<>();

    private Consumer<byte[]> publish = line -> {};

    private BareChat() {}

    public static void main(String[] arguments) throws Exception {
        String usage = "BareChat --engine redis|nats|jetstream --at PORT [--port P]";
        Options options = new Options(arguments, usage, "--engine", "--at", "--port");
        String at = "127.0.0.1:" + options.number("--at", 0, 1, 65_535);
        BareChat chat = new BareChat();
        String engine = options.text("--engine", "redis");
        switch (engine) {
            case "redis" -> chat.redis(at);
            case "nats" -> chat.nats(at);
            case "jetstream" -> chat.jetStream(at);
            default -> throw options.refuse("no engine " + engine);
        }
        Channel listening = new ServerBootstrap()
                .group(chat.loop)
                .channel(EpollServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, 4096)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new LineBasedFrameDecoder(LONGEST_LINE), chat.new Member());
                    }
                })
                .bind(new InetSocketAddress("127.0.0.1", (int) options.number("--port", 0, 0, 65_535)))
                .sync()
                .channel();
        int port = ((InetSocketAddress) listening.localAddress()).getPort();
        System.out.printf("listening on 127.0.0.1:%d (chat on Netty and bare %s)%n", port, engine);
        listening.closeFuture().sync();
    }

    // ---- Engines ----

    private void redis(String at) {
        RedisCodec<String, byte[]> codec = RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE);
        RedisClient client = RedisClient.create(RedisURI.create("redis://" + at));
        StatefulRedisConnection<String, byte[]> commands = client.connect(codec);
        XAddArgs trimmed = new XAddArgs().maxlen(HISTORY).approximateTrimming();
        publish =
                line -> commands.async().xadd(ROOM, trimmed, Map.of("r", line)).exceptionally(BareChat::end);
        List<StreamMessage<String, byte[]>> last = commands.sync().xrevrange(ROOM, Range.unbounded(), Limit.from(1));
        read(client.connect(codec), last.isEmpty() ? "0-0" : last.getFirst().getId());
    }

    private void read(StatefulRedisConnection<String, byte[]> waiting, String after) {
        waiting.async()
                .xread(XReadArgs.Builder.block(2_000).count(256), XReadArgs.StreamOffset.from(ROOM, after))
                .thenAccept(messages -> {
                    boolean some = messages != null && !messages.isEmpty();
                    if (some) {
                        deliver(messages.stream()
                                .map(message -> message.getBody().get("r"))
                                .toList());
                    }
                    read(waiting, some ? messages.getLast().getId() : after);
                })
                .exceptionally(BareChat::end);
    }

    private void nats(String at) throws IOException, InterruptedException {
        Connection connection = Nats.connect("nats://" + at);
        Dispatcher dispatcher = connection.createDispatcher(message -> deliver(List.of(message.getData())));
        dispatcher.subscribe(ROOM);
        publish = line -> connection.publish(ROOM, line);
    }

    private void jetStream(String at) throws IOException, InterruptedException, JetStreamApiException {
        Connection connection = Nats.connect("nats://" + at);
        connection
                .jetStreamManagement()
                .addStream(StreamConfiguration.builder() // the same by each node: it is made once
                        .name(ROOM + "-kept")
                        .subjects(ROOM + "-kept")
                        .storageType(StorageType.File)
                        .discardPolicy(DiscardPolicy.Old)
                        .maxMessages(HISTORY)
                        .build());
        JetStream streams = connection.jetStream();
        streams.subscribe(
                ROOM + "-kept",
                connection.createDispatcher(),
                message -> deliver(List.of(message.getData())),
                false,
                PushSubscribeOptions.builder().stream(ROOM + "-kept")
                        .configuration(ConsumerConfiguration.builder()
                                .deliverPolicy(DeliverPolicy.New)
                                .ackPolicy(AckPolicy.None)
                                .build())
                        .build());
        publish = line -> streams.publishAsync(ROOM + "-kept", line).exceptionally(BareChat::end);
    }

    /** What was not published, or cannot be read, ends the node, and with it the measurement. */
    private static <T> @Nullable T end(Throwable failure) {
        System.err.println("the engine failed: " + failure);
        Runtime.getRuntime().halt(1);
        return null;
    }

    // ---- Members ----

    /** Written once; flushed when all of them are written to. Any thread. */
    private void deliver(List<byte[]> lines) {
        loop.execute(() -> {
            for (byte[] line : lines) {
                ByteBuf bytes = PooledByteBufAllocator.DEFAULT.directBuffer(line.length + 1);
                bytes.writeBytes(line).writeByte('\n');
                members.forEach(member -> member.write(bytes.retainedDuplicate(), member.voidPromise()));
                bytes.release();
            }
            members.forEach(Channel::flush);
        });
    }

    private final class Member extends SimpleChannelInboundHandler<ByteBuf> {
        private byte @Nullable [] name;

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf line) {
            byte[] before = name;
            if (before == null) {
                name = (line.toString(StandardCharsets.UTF_8) + ": ").getBytes(StandardCharsets.UTF_8);
                members.add(context.channel());
                return;
            }
            byte[] text = ByteBufUtil.getBytes(line);
            byte[] whole = new byte[before.length + text.length];
            System.arraycopy(before, 0, whole, 0, before.length);
            System.arraycopy(text, 0, whole, before.length, text.length);
            publish.accept(whole);
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            members.remove(context.channel());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }
}
