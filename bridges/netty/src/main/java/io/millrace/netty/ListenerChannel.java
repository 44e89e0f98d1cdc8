package io.millrace.netty;

import io.millrace.sys.Descriptor;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.ServerChannel;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/** A listener: each message that it reads is an accepted channel. */
@SuppressWarnings("deprecation") // Netty has no other handle for what a channel reads
abstract sealed class ListenerChannel extends MillraceChannel implements ServerChannel
        permits MillraceServerSocketChannel, MillraceServerDomainSocketChannel {
    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);

    private volatile boolean listening;

    ListenerChannel(Descriptor descriptor) {
        super(null, descriptor);
    }

    /** Binds and listens. */
    abstract void listen(SocketAddress address) throws Exception;

    /** Returns the next waiting connection, or null. */
    abstract @Nullable Channel accept() throws Exception;

    @Override
    public final ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    public final boolean isActive() {
        return listening && isOpen();
    }

    @Override
    protected final void doBind(SocketAddress address) throws Exception {
        listen(address);
        listening = true;
        submit(); // if a read was asked for before
    }

    @Override
    final void readReady() {
        ChannelConfig config = config();
        ChannelPipeline pipeline = pipeline();
        RecvByteBufAllocator.Handle sizes = unsafe().recvBufAllocHandle();
        sizes.reset(config);
        sizes.attemptedBytesRead(1);
        Throwable failure = null;
        try {
            do {
                Channel accepted = accept();
                if (accepted == null) {
                    break;
                }
                sizes.lastBytesRead(1);
                sizes.incMessagesRead(1);
                readPending = false;
                pipeline.fireChannelRead(accepted);
            } while (isOpen() && sizes.continueReading());
        } catch (Throwable e) {
            failure = e;
        }
        try {
            sizes.readComplete();
            pipeline.fireChannelReadComplete();
            if (failure != null) {
                // The listener goes on: most often there are too few descriptors, and that passes.
                pipeline.fireExceptionCaught(failure);
            }
        } finally {
            endOfRead(config);
        }
    }

    @Override
    final boolean doConnect(SocketAddress remoteAddress, @Nullable SocketAddress localAddress) {
        throw new UnsupportedOperationException("a listener does not connect");
    }

    @Override
    final void onConnected(SocketAddress requested) {
        throw new UnsupportedOperationException("a listener does not connect");
    }

    @Override
    protected final void doWrite(ChannelOutboundBuffer out) {
        throw new UnsupportedOperationException("a listener does not write");
    }

    @Override
    protected final Object filterOutboundMessage(Object message) {
        throw new UnsupportedOperationException("a listener does not write");
    }

    @Override
    protected final @Nullable SocketAddress remoteAddress0() {
        return null;
    }

    @Override
    protected final SocketUnsafe newUnsafe() {
        return new ListenerUnsafe();
    }

    private final class ListenerUnsafe extends SocketUnsafe {}
}
