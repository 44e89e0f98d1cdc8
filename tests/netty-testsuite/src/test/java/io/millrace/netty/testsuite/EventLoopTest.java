package io.millrace.netty.testsuite;

import io.millrace.netty.Millrace;
import io.millrace.netty.MillraceServerSocketChannel;
import io.millrace.netty.MillraceSocketChannel;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.testsuite.transport.AbstractSingleThreadEventLoopTest;
import java.util.concurrent.Executor;

/** Netty's test of an event loop with a thread of its own, which is abstract. */
class EventLoopTest extends AbstractSingleThreadEventLoopTest {
    @Override
    protected EventLoopGroup newEventLoopGroup() {
        return new MultiThreadIoEventLoopGroup(Millrace.ioHandlerFactory());
    }

    @Override
    protected EventLoopGroup newAutoScalingEventLoopGroup() {
        return new MultiThreadIoEventLoopGroup(
                SCALING_MAX_THREADS, (Executor) null, AUTO_SCALING_CHOOSER_FACTORY, Millrace.ioHandlerFactory());
    }

    @Override
    protected Channel newChannel() {
        return new MillraceSocketChannel();
    }

    @Override
    protected Class<? extends ServerChannel> serverChannelClass() {
        return MillraceServerSocketChannel.class;
    }
}
