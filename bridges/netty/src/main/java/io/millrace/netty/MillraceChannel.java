package io.millrace.netty;

import io.millrace.poll.Source;
import io.millrace.poll.SourceHandle;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.poll.internal.LeakTracker;
import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.posix.Sockets;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.AbstractChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoRegistration;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A Netty channel over a descriptor of ours: what TCP, UDP and Unix channels have in common.
 *
 * <p><b>Readiness.</b> The socket is watched with level triggers, as by Netty's own transports: what a read leaves
 * behind is reported again. It is added to the poll when the channel first wants something, and changed in the kernel
 * only when that changes: with auto-read never, unless a write is refused.
 *
 * <p><b>Threads.</b> As Netty prescribes: everything runs on the event loop, except options, addresses and the close of
 * a channel with SO_LINGER, for which each call takes a use of the descriptor. While the loop watches the socket, the
 * registration holds a use, so reads and writes need none of their own.
 *
 * <p><b>Nothing after the end.</b> A closed channel wants nothing, so an event that its loop has taken before the close
 * reads and writes nothing: the number of its descriptor may be another socket's by then.
 */
abstract sealed class MillraceChannel extends AbstractChannel implements Source
        permits StreamChannel, ListenerChannel, MillraceDatagramChannel {
    final Descriptor descriptor;
    private final KernelHandle handle;
    private final LeakTracker leak;

    private volatile @Nullable IoRegistration registration;
    /** What the loop was asked to tell of, as {@link Bits}. */
    private int interest;

    /** Whether the user has asked for a read that has brought nothing yet. */
    boolean readPending;

    private @Nullable ChannelPromise connectPromise;
    private @Nullable Future<?> connectTimeout;
    private @Nullable SocketAddress requestedRemote;

    volatile @Nullable SocketAddress local;
    volatile @Nullable SocketAddress remote;

    MillraceChannel(@Nullable Channel parent, Descriptor descriptor) {
        super(parent);
        this.descriptor = descriptor;
        this.handle = new KernelHandle(descriptor);
        this.leak = LeakTracker.track(this, getClass().getSimpleName(), descriptor, handle::close);
    }

    // ---- The socket ----

    @Override
    public final SourceHandle handle() {
        return handle;
    }

    /** Returns the number, for a call on the loop. */
    final int fd() {
        return descriptor.fd();
    }

    /** Begins a use from any thread; {@link Descriptor#release} ends it. */
    final int use() throws ClosedChannelException {
        if (!descriptor.acquire()) {
            throw new ClosedChannelException();
        }
        return descriptor.fd();
    }

    @Override
    public final boolean isOpen() {
        return !handle.isClosed();
    }

    /** Between two loops, a channel has memory of its own: what is written then goes out, as on NIO. */
    final LoopMemory memory() {
        IoRegistration registered = registration;
        return registered != null ? registered.attachment() : new LoopMemory();
    }

    @Override
    protected @Nullable SocketAddress localAddress0() {
        return local;
    }

    @Override
    protected @Nullable SocketAddress remoteAddress0() {
        return remote;
    }

    static InetSocketAddress resolved(SocketAddress address) {
        if (!(address instanceof InetSocketAddress internet)) {
            throw new UnsupportedAddressTypeException();
        }
        if (internet.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        return internet;
    }

    // ---- Registering, and what the loop is asked for ----

    @Override
    protected final boolean isCompatible(EventLoop loop) {
        return loop instanceof IoEventLoop && ((IoEventLoopGroup) loop).isCompatible(SocketIoHandle.class);
    }

    @Override
    protected final void doRegister(ChannelPromise promise) {
        ((IoEventLoop) eventLoop()).register((SocketIoHandle) unsafe()).addListener(done -> {
            if (done.isSuccess()) {
                registration = (IoRegistration) done.getNow();
                submit();
                promise.setSuccess();
            } else {
                promise.setFailure(done.cause());
            }
        });
    }

    @Override
    protected final void doDeregister() {
        IoRegistration registered = registration;
        if (registered != null) {
            registration = null;
            interest &= ~Bits.READABLE; // a next loop is asked for it by a read of its own; a flush goes on by itself
            if (isOpen()) {
                passOn();
            }
            registered.cancel();
        }
    }

    /** Called when it leaves its loop for another one: what it has left to do there must go on here. */
    void passOn() {}

    @Override
    protected void doBeginRead() {
        IoRegistration registered = registration;
        if (registered != null && registered.isValid()) {
            readPending = true;
            want(Bits.READABLE);
        }
    }

    final void want(int bits) {
        if ((interest & bits) != bits) {
            interest |= bits;
            submit();
        }
    }

    final void stopWanting(int bits) {
        if ((interest & bits) != 0) {
            interest &= ~bits;
            submit();
        }
    }

    final boolean wants(int bits) {
        return (interest & bits) != 0;
    }

    /**
     * Tells the loop what this channel wants now. While it connects, that is the end of the connect, and before it is
     * active, nothing: the kernel calls a socket without a peer readable, and closed.
     */
    final void submit() {
        IoRegistration registered = registration;
        if (registered != null && registered.isValid()) {
            int bits = connectPromise != null ? Bits.WRITABLE : isActive() ? interest : 0;
            registered.submit(ReadinessOps.of(bits));
        }
    }

    /** Called when auto-read is turned off, by any thread. */
    final void clearReadPending() {
        if (!isRegistered()) {
            readPending = false;
            return;
        }
        EventLoop loop = eventLoop();
        if (loop.inEventLoop()) {
            stopReading();
        } else {
            loop.execute(this::stopReadingUnlessTurnedOn);
        }
    }

    /** If auto-read was turned on since, its request for a read may have come first, and must stand. */
    private void stopReadingUnlessTurnedOn() {
        if (!config().isAutoRead()) {
            stopReading();
        }
    }

    final void stopReading() {
        readPending = false;
        stopWanting(Bits.READABLE);
    }

    /** To be called after each round of reads: without auto-read, the next round needs another request. */
    final void endOfRead(ChannelConfig config) {
        if (!readPending && !config.isAutoRead()) {
            stopWanting(Bits.READABLE);
        }
    }

    // ---- Life ----

    /** Begins to connect, after binding if {@code localAddress} is given. Returns false if it is in progress. */
    abstract boolean doConnect(SocketAddress remoteAddress, @Nullable SocketAddress localAddress) throws Exception;

    /** Called when a connect in progress has succeeded. */
    abstract void onConnected(SocketAddress requested);

    /** Reads what there is, within the limits of the channel's allocator handle. */
    abstract void readReady();

    @Override
    protected void doDisconnect() throws Exception {
        doClose();
    }

    @Override
    protected void doClose() throws Exception {
        ChannelPromise connecting = connectPromise;
        if (connecting != null) {
            // Not setFailure: the user may cancel it at the same time.
            connecting.tryFailure(new ClosedChannelException());
            connectPromise = null;
        }
        cancelConnectTimeout();
        leak.forget();
        interest = 0;
        handle.close();
    }

    private void cancelConnectTimeout() {
        Future<?> timeout = connectTimeout;
        if (timeout != null) {
            timeout.cancel(false);
            connectTimeout = null;
        }
    }

    /** Disconnects the peer with shutdown(2), because a handler keeps the reactor from ending. Any thread. */
    final void cutOff() {
        try {
            int fd = use();
            try {
                Sockets.shutdownOutput(fd);
                Sockets.shutdownInput(fd);
            } finally {
                descriptor.release();
            }
        } catch (IOException e) {
            // Closed already, or it has no peer.
        }
    }

    // ---- Buffers ----

    /** Returns a copy in memory with a lasting address, and releases {@code holder}, which holds the original. */
    final ByteBuf directCopy(Object holder, ByteBuf bytes) {
        int length = bytes.readableBytes();
        if (length == 0) {
            ReferenceCountUtil.safeRelease(holder);
            return Unpooled.EMPTY_BUFFER;
        }
        ByteBuf copy = alloc().directBuffer(length);
        copy.writeBytes(bytes, bytes.readerIndex(), length);
        ReferenceCountUtil.safeRelease(holder);
        return copy;
    }

    @Override
    protected abstract SocketUnsafe newUnsafe();

    /** Netty's inner face of a channel, which is also what the loop watches. */
    abstract class SocketUnsafe extends AbstractUnsafe implements SocketIoHandle {
        @Override
        public final Source source() {
            return MillraceChannel.this;
        }

        @Override
        public final boolean isSocketOpen() {
            return isOpen();
        }

        @Override
        public final void close() {
            close(voidPromise());
        }

        @Override
        public final String toString() {
            return MillraceChannel.this.getClass().getSimpleName() + " " + MillraceChannel.this;
        }

        @Override
        public final void handle(IoRegistration from, IoEvent event) {
            int bits = ((ReadinessEvent) event).bits;
            if (connectPromise != null) {
                finishConnect();
                return; // what else is ready is reported again
            }
            // First: it may free memory.
            if (wants(Bits.WRITABLE) && (bits & (Bits.WRITABLE | Bits.WRITE_CLOSED | Bits.ERROR)) != 0) {
                super.flush0();
            }
            if (wants(Bits.READABLE) && (bits & (Bits.READABLE | Bits.READ_CLOSED | Bits.ERROR)) != 0) {
                readReady();
            }
        }

        /** While the socket is full, the loop flushes as soon as it is not. */
        @Override
        protected final void flush0() {
            if (connectPromise != null || !wants(Bits.WRITABLE)) {
                super.flush0();
            }
        }

        @Override
        public final void connect(
                SocketAddress remoteAddress, @Nullable SocketAddress localAddress, ChannelPromise promise) {
            if (promise.isDone() || !ensureOpen(promise)) {
                return;
            }
            try {
                if (connectPromise != null) {
                    throw new ConnectionPendingException();
                }
                boolean wasActive = isActive();
                if (doConnect(remoteAddress, localAddress)) {
                    succeed(promise, wasActive);
                } else {
                    awaitConnect(remoteAddress, promise);
                }
            } catch (Throwable e) {
                promise.tryFailure(annotateConnectException(e, remoteAddress));
                closeIfClosed();
            }
        }

        private void awaitConnect(SocketAddress remoteAddress, ChannelPromise promise) {
            connectPromise = promise;
            requestedRemote = remoteAddress;
            submit();
            int millis = config().getConnectTimeoutMillis();
            if (millis > 0) {
                connectTimeout = eventLoop()
                        .schedule(() -> onConnectTimeout(remoteAddress, millis), millis, TimeUnit.MILLISECONDS);
            }
            promise.addListener((ChannelFutureListener) future -> {
                if (future.isCancelled()) {
                    cancelConnectTimeout();
                    connectPromise = null;
                    close(voidPromise());
                }
            });
        }

        private void onConnectTimeout(SocketAddress remoteAddress, int millis) {
            ChannelPromise connecting = connectPromise;
            if (connecting != null
                    && connecting.tryFailure(new ConnectTimeoutException(
                            "connection timed out after " + millis + " ms: " + remoteAddress))) {
                close(voidPromise());
            }
        }

        private void finishConnect() {
            ChannelPromise promise = Objects.requireNonNull(connectPromise);
            SocketAddress requested = Objects.requireNonNull(requestedRemote);
            try {
                boolean wasActive = isActive();
                if (!connectHasEnded()) {
                    return;
                }
                endConnect();
                onConnected(requested);
                succeed(promise, wasActive);
            } catch (Throwable e) {
                endConnect();
                promise.tryFailure(annotateConnectException(e, requested));
                close(voidPromise());
            }
        }

        private boolean connectHasEnded() throws Exception {
            try {
                return Sockets.finishConnect(fd());
            } catch (ErrnoException e) {
                throw SocketErrors.connect(e);
            }
        }

        private void endConnect() {
            cancelConnectTimeout();
            connectPromise = null;
            requestedRemote = null;
        }

        private void succeed(ChannelPromise promise, boolean wasActive) {
            submit();
            // Asked before, because a listener of the promise may close the channel; it was active nevertheless.
            boolean active = isActive();
            boolean told = promise.trySuccess();
            if (!wasActive && active) {
                pipeline().fireChannelActive();
            }
            if (!told) { // cancelled meanwhile
                close(voidPromise());
            }
        }
    }
}
