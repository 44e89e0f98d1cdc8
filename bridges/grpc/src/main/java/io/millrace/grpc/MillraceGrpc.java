package io.millrace.grpc;

import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.millrace.engine.EventManager;
import io.millrace.engine.GlobalEventManager;
import io.millrace.engine.Reactors;
import io.millrace.netty.Millrace;
import io.millrace.netty.MillraceServerSocketChannel;
import io.millrace.netty.MillraceSocketChannel;
import io.netty.channel.EventLoopGroup;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * gRPC-java on the threads of an {@link EventManager}: one line for a server, one for a channel.
 *
 * {@snippet :
 * Server server = MillraceGrpc.onLoops(NettyServerBuilder.forPort(8080)).addService(service).build().start();
 * ManagedChannel channel = MillraceGrpc.onLoops(NettyChannelBuilder.forTarget("localhost:8080").usePlaintext()).build();
 * }
 *
 * <p>The connections of both are served by the manager's reactors, together with everything else that runs on them.
 * Your services run where gRPC's executor says, which is a pool of threads unless you set {@code directExecutor()}; then
 * they run on the reactors and must not block them.
 *
 * <p>The manager must outlive servers and channels. When it ends, their connections are closed.
 */
public final class MillraceGrpc {
    /** One group for each manager, so that a hundred channels do not make a hundred groups. */
    private static final ConcurrentMap<Reactors, EventLoopGroup> GROUPS = new ConcurrentHashMap<>();

    private MillraceGrpc() {}

    /**
     * Puts a server on the global manager: see {@link GlobalEventManager}.
     *
     * @param builder of a server on a TCP port
     * @return the same builder, with its event loops and channel type set
     */
    public static NettyServerBuilder onLoops(NettyServerBuilder builder) {
        return onLoops(builder, GlobalEventManager.global());
    }

    /**
     * Puts a server on a manager.
     *
     * @param builder of a server on a TCP port
     * @param manager must be {@link Reactors}, on a backend with descriptors
     * @return the same builder, with its event loops and channel type set
     */
    public static NettyServerBuilder onLoops(NettyServerBuilder builder, EventManager manager) {
        EventLoopGroup group = groupOn(manager);
        return builder.bossEventLoopGroup(group)
                .workerEventLoopGroup(group)
                .channelType(MillraceServerSocketChannel.class);
    }

    /**
     * Puts a client's channel on the global manager: see {@link GlobalEventManager}.
     *
     * @param builder of a channel over TCP
     * @return the same builder, with its event loops and channel type set
     */
    public static NettyChannelBuilder onLoops(NettyChannelBuilder builder) {
        return onLoops(builder, GlobalEventManager.global());
    }

    /**
     * Puts a client's channel on a manager.
     *
     * @param builder of a channel over TCP
     * @param manager must be {@link Reactors}, on a backend with descriptors
     * @return the same builder, with its event loops and channel type set
     */
    public static NettyChannelBuilder onLoops(NettyChannelBuilder builder, EventManager manager) {
        return builder.eventLoopGroup(groupOn(manager)).channelType(MillraceSocketChannel.class);
    }

    private static EventLoopGroup groupOn(EventManager manager) {
        if (!(manager instanceof Reactors reactors)) {
            throw new IllegalArgumentException("gRPC needs loops of ours, and " + manager
                    + " is not Reactors; open Reactors and pass them, or register them with GlobalEventManager");
        }
        EventLoopGroup known = GROUPS.get(reactors);
        if (known != null) {
            return known;
        }
        EventLoopGroup group = GROUPS.computeIfAbsent(reactors, Millrace::groupOn);
        var ignored = reactors.termination().whenComplete((nothing, failure) -> GROUPS.remove(reactors));
        return group;
    }
}
