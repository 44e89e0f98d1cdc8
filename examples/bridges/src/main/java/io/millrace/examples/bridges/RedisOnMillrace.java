package io.millrace.examples.bridges;

import io.lettuce.core.ConnectionBuilder;
import io.lettuce.core.ConnectionEvents;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.millrace.engine.Reactors;
import io.millrace.netty.Millrace;
import io.millrace.netty.MillraceDatagramChannel;
import io.millrace.netty.MillraceSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.resolver.dns.DnsAddressResolverGroup;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;

/**
 * Lettuce, the client of Redis, on a reactor.
 *
 * <p>Lettuce lets a program choose its loops, but not the type of its channels. So there is a {@link Client} that replaces
 * the bootstrap of each connection by one of ours.
 */
public final class RedisOnMillrace {
    private RedisOnMillrace() {}

    /**
     * Writes and reads a key.
     *
     * @param args the URI of a Redis, or nothing for {@code redis://localhost}
     */
    public static void main(String[] args) {
        RedisURI address = RedisURI.create(args.length == 0 ? "redis://localhost" : args[0]);
        try (Reactors reactors = Reactors.builder().reactors(1).name("redis").open()) {
            EventLoopGroup group = Millrace.groupOn(reactors);
            ClientResources resources = resourcesOn(group);
            try (RedisClient client = new Client(resources, address, group);
                    StatefulRedisConnection<String, String> connection = client.connect()) {
                connection.sync().set("greeting", "hello from Millrace");
                System.out.println(connection.sync().get("greeting"));
            } finally {
                resources.shutdown().syncUninterruptibly();
                group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
            }
        }
    }

    /** What all clients on a group share. Shutting it down leaves the group running. */
    static ClientResources resourcesOn(EventLoopGroup group) {
        return ClientResources.builder()
                .eventLoopGroupProvider(new OneGroup(group))
                // The default one has channels of NIO.
                .addressResolverGroup(new DnsAddressResolverGroup(new DnsNameResolverBuilder()
                        .datagramChannelType(MillraceDatagramChannel.class)
                        .socketChannelType(MillraceSocketChannel.class)))
                .build();
    }

    /** A client whose connections are channels of Millrace. */
    static final class Client extends RedisClient {
        private final EventLoopGroup group;

        Client(ClientResources resources, RedisURI address, EventLoopGroup group) {
            super(resources, address);
            this.group = group;
        }

        @Override
        protected void connectionBuilder(
                Mono<SocketAddress> addresses, ConnectionBuilder builder, ConnectionEvents events, RedisURI uri) {
            super.connectionBuilder(addresses, builder, events, uri);
            Bootstrap theirs = builder.bootstrap();
            Bootstrap ours = new Bootstrap()
                    .group(group)
                    .channel(MillraceSocketChannel.class)
                    .resolver(theirs.config().resolver());
            theirs.config().options().forEach((option, value) -> copy(ours, option, value));
            builder.bootstrap(ours);
        }

        @SuppressWarnings("unchecked") // the other bootstrap has checked it
        private static <T> void copy(Bootstrap bootstrap, ChannelOption<T> option, Object value) {
            bootstrap.option(option, (T) value);
        }
    }

    /** Gives the same group for every type that Lettuce asks for. */
    private record OneGroup(EventLoopGroup group) implements EventLoopGroupProvider {
        @Override
        @SuppressWarnings("unchecked") // Lettuce uses it as an EventLoopGroup
        public <T extends EventLoopGroup> T allocate(Class<T> type) {
            return (T) group;
        }

        @Override
        public int threadPoolSize() {
            int loops = 0;
            for (var ignored : group) {
                loops++;
            }
            return loops;
        }

        @Override
        public Future<Boolean> release(EventExecutorGroup released, long quietPeriod, long timeout, TimeUnit unit) {
            return ImmediateEventExecutor.INSTANCE.newSucceededFuture(true);
        }

        @Override
        public Future<Boolean> shutdown(long quietPeriod, long timeout, TimeUnit unit) {
            return ImmediateEventExecutor.INSTANCE.newSucceededFuture(true);
        }
    }
}
