package io.millrace.bench.peers;

import io.grpc.netty.NettyServerBuilder;
import io.millrace.engine.Reactors;
import io.millrace.netty.Millrace;
import io.millrace.netty.MillraceServerSocketChannel;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringAdaptiveBufferRingAllocator;
import io.netty.channel.uring.IoUringBufferRingConfig;
import io.netty.channel.uring.IoUringChannelOption;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringIoHandlerConfig;
import io.netty.channel.uring.IoUringServerSocketChannel;

/**
 * The transports that Netty's servers here run on: Netty's own {@code nio}, {@code epoll} and {@code io_uring}; {@code millrace} is our poll and
 * channels under Netty's threads, {@code reactors} Netty on our reactors. io_uring has a buffer ring, multishot accept and receive where the kernel
 * offers them.
 */
record NettyLoops(EventLoopGroup group, Class<? extends ServerChannel> channel) {
    private static final short RING = 0;
    private static final short RING_BUFFERS = 1024;

    static NettyLoops of(String transport, int loops, Options options) {
        return switch (transport) {
            case "nio" -> new NettyLoops(group(loops, NioIoHandler.newFactory()), NioServerSocketChannel.class);
            case "epoll" -> new NettyLoops(group(loops, EpollIoHandler.newFactory()), EpollServerSocketChannel.class);
            case "io_uring" -> {
                if (!IoUring.isAvailable()) {
                    throw options.refuse("Netty cannot use io_uring here: " + IoUring.unavailabilityCause());
                }
                yield new NettyLoops(group(loops, ioUring()), IoUringServerSocketChannel.class);
            }
            case "millrace" ->
                new NettyLoops(group(loops, Millrace.ioHandlerFactory()), MillraceServerSocketChannel.class);
            case "reactors" ->
                new NettyLoops(
                        Millrace.groupOn(Reactors.builder().reactors(loops).open()), MillraceServerSocketChannel.class);
            default -> throw options.refuse("no transport " + transport);
        };
    }

    /** Gives a server its loops and its type of channels. */
    void put(ServerBootstrap server) {
        server.group(group).channel(channel);
        if (hasRing()) {
            server.childOption(IoUringChannelOption.IO_URING_BUFFER_GROUP_ID, RING);
        }
    }

    /** Gives a server of gRPC the same. */
    NettyServerBuilder put(NettyServerBuilder server) {
        server.bossEventLoopGroup(group).workerEventLoopGroup(group).channelType(channel);
        return hasRing() ? server.withChildOption(IoUringChannelOption.IO_URING_BUFFER_GROUP_ID, RING) : server;
    }

    private boolean hasRing() {
        return channel == IoUringServerSocketChannel.class && IoUring.isRegisterBufferRingSupported();
    }

    private static EventLoopGroup group(int loops, IoHandlerFactory handlers) {
        return new MultiThreadIoEventLoopGroup(loops, handlers);
    }

    private static IoHandlerFactory ioUring() {
        IoUringIoHandlerConfig config = new IoUringIoHandlerConfig();
        if (IoUring.isRegisterBufferRingSupported()) {
            config.setBufferRingConfig(IoUringBufferRingConfig.builder()
                    .bufferGroupId(RING)
                    .bufferRingSize(RING_BUFFERS)
                    .batchSize(RING_BUFFERS / 2)
                    .allocator(new IoUringAdaptiveBufferRingAllocator())
                    .build());
        }
        return IoUringIoHandler.newFactory(config);
    }

    static String ringFeatures() {
        return (IoUring.isRegisterBufferRingSupported() ? " with" : " without")
                + " buffer ring"
                + (IoUring.isRecvMultishotEnabled() ? " and multishot receive" : "");
    }
}
