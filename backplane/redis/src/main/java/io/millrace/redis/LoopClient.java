package io.millrace.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ConnectionBuilder;
import io.lettuce.core.ConnectionEvents;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.millrace.netty.MillraceSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import java.net.SocketAddress;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Lettuce with our channels. It chooses its channels by Netty's native transports, and a bootstrap does not let go of
 * the kind that was chosen first; so this makes another bootstrap with the same options.
 *
 * <p>It does not reconnect by itself: it would send again what was on its way, and so add it twice.
 */
final class LoopClient extends RedisClient {
    private final @Nullable EventLoopGroup group;
    private final Loops loops;

    LoopClient(Loops loops, RedisURI uri) {
        super(loops.resources(), uri);
        this.loops = loops;
        this.group = loops.ours();
        setOptions(ClientOptions.builder()
                .autoReconnect(false)
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                // Not Lettuce's extended one, whose options only Netty's own channels have; a silent server is noticed
                // above.
                .socketOptions(SocketOptions.builder().keepAlive(true).build())
                .build());
    }

    @Override
    @SuppressWarnings("unchecked") // the options of a bootstrap are of the types that they were set with
    protected void connectionBuilder(
            Mono<SocketAddress> address, ConnectionBuilder builder, ConnectionEvents events, RedisURI uri) {
        super.connectionBuilder(address, builder, events, uri);
        if (group != null && uri.getSocket() == null) {
            Bootstrap bootstrap = new Bootstrap()
                    .group(group)
                    .channel(MillraceSocketChannel.class)
                    .resolver(loops.resources().addressResolverGroup());
            for (Map.Entry<ChannelOption<?>, Object> option :
                    builder.bootstrap().config().options().entrySet()) {
                bootstrap.option((ChannelOption<Object>) option.getKey(), option.getValue());
            }
            builder.bootstrap(bootstrap);
        }
    }
}
