package io.millrace.netty;

import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import io.millrace.sys.call.AddressVector;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.Scratch;
import io.millrace.sys.posix.Files;
import io.millrace.sys.posix.SocketSteps;
import io.millrace.sys.posix.Sockets;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.FileRegion;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.internal.StringUtil;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.WritableByteChannel;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A connection: bytes in both directions, over TCP or a Unix socket.
 *
 * <p><b>Writes.</b> One buffer goes out by send, several by one sendmsg, a file by sendfile, if its descriptor can be
 * had ({@link RegionFile}); else its bytes pass through the process. What does not have a memory address of its own is
 * copied to memory that has, when it is written.
 *
 * <p><b>End of input.</b> As on Netty's NIO transport: it closes the channel or, with ALLOW_HALF_CLOSURE, shuts the
 * input down and fires {@link ChannelInputShutdownEvent}, and after the read that confirms the end, {@link
 * ChannelInputShutdownReadComplete}.
 */
@SuppressWarnings("deprecation") // Netty has no other handle for what a channel reads
abstract sealed class StreamChannel extends MillraceChannel implements DuplexChannel
        permits MillraceSocketChannel, MillraceDomainSocketChannel {
    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);
    /** A count of attempts larger than any: the socket has refused bytes. */
    private static final int FULL = Integer.MAX_VALUE;
    /** No more is worth a try in one call, and Linux moves no more. */
    private static final long MOST = 0x7fff_f000L;

    private final Runnable flushAgain = this::flushAgain;
    /** Whether {@link #flushAgain} waits in the loop's queue. */
    private boolean flushesAgain;

    volatile boolean connected;
    private volatile boolean inputShutdown;
    private volatile boolean outputShutdown;
    /** Whether a read after the end of the input has seen the end once more. */
    private boolean endConfirmed;

    private @Nullable RegionFile file;
    private @Nullable WritableByteChannel regionTarget;

    StreamChannel(@Nullable Channel parent, Descriptor descriptor, boolean connected) {
        super(parent, descriptor);
        this.connected = connected;
    }

    abstract boolean isAllowHalfClosure();

    /** Returns seconds; −1 for none. */
    abstract int soLinger();

    @Override
    public final ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    public final boolean isActive() {
        return connected && isOpen();
    }

    // ---- Reading ----

    @Override
    final void readReady() {
        ChannelConfig config = config();
        if (isInputShutdown() && (endConfirmed || !isAllowHalfClosure())) {
            stopReading();
            return;
        }
        ChannelPipeline pipeline = pipeline();
        RecvByteBufAllocator.Handle sizes = unsafe().recvBufAllocHandle();
        sizes.reset(config);
        ByteBuf buffer = null;
        boolean ended = false;
        try {
            do {
                buffer = sizes.allocate(config.getAllocator());
                sizes.attemptedBytesRead(buffer.writableBytes());
                sizes.lastBytesRead(receive(buffer));
                if (sizes.lastBytesRead() <= 0) {
                    buffer.release();
                    buffer = null;
                    ended = sizes.lastBytesRead() < 0;
                    if (ended) {
                        readPending = false;
                    }
                    break;
                }
                sizes.incMessagesRead(1);
                readPending = false;
                ByteBuf received = buffer;
                buffer = null;
                pipeline.fireChannelRead(received);
            } while (isOpen() && sizes.continueReading());
            sizes.readComplete();
            pipeline.fireChannelReadComplete();
            if (ended) {
                onEndOfInput(pipeline);
            }
        } catch (Throwable e) {
            onReadFailed(pipeline, sizes, buffer, e);
        } finally {
            endOfRead(config);
        }
    }

    private void onReadFailed(
            ChannelPipeline pipeline, RecvByteBufAllocator.Handle sizes, @Nullable ByteBuf buffer, Throwable cause) {
        if (buffer != null) {
            buffer.release();
        }
        sizes.readComplete();
        pipeline.fireChannelReadComplete();
        pipeline.fireExceptionCaught(cause);
        // Without memory it could only fail again and again.
        if (cause instanceof OutOfMemoryError || cause instanceof IOException) {
            onEndOfInput(pipeline);
        }
    }

    private void onEndOfInput(ChannelPipeline pipeline) {
        if (!isInputShutdown()) {
            if (isAllowHalfClosure()) {
                var _ = shutdownInput();
                pipeline.fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            } else {
                unsafe().close(voidPromise());
            }
        } else if (!endConfirmed) {
            endConfirmed = true;
            pipeline.fireUserEventTriggered(ChannelInputShutdownReadComplete.INSTANCE);
        }
    }

    /** Returns the count, 0 if there is nothing now, or −1 at the end. */
    private int receive(ByteBuf into) throws Exception {
        int index = into.writerIndex();
        int room = into.writableBytes();
        CallState calls = memory().calls;
        long result;
        if (into.hasMemoryAddress()) {
            result = receive(calls, into.memoryAddress() + index, room);
        } else if (into.isDirect() && into.nioBufferCount() == 1) {
            result = receive(calls, LoopMemory.addressOf(into.internalNioBuffer(index, room)), room);
        } else {
            result = receiveCopied(calls, into, index, room);
        }
        if (result > 0) {
            into.writerIndex(index + (int) result);
            return (int) result;
        }
        if (result == 0) {
            return -1;
        }
        if (Errno.isWouldBlock(result)) {
            return 0;
        }
        throw SocketErrors.io("recv", fd(), result);
    }

    private long receive(CallState calls, long address, int room) {
        long result;
        do {
            result = Sockets.receive(calls, fd(), address, room);
        } while (Errno.isInterrupted(result));
        return result;
    }

    private long receiveCopied(CallState calls, ByteBuf into, int index, int room) {
        int asked = Math.min(room, Scratch.MAX_BYTES);
        try (Scratch scratch = Scratch.borrow(asked)) {
            long result = receive(calls, scratch.address(), asked);
            if (result > 0) {
                into.setBytes(index, scratch.view((int) result));
                scratch.clearView();
            }
            return result;
        }
    }

    // ---- Writing ----

    @Override
    protected final Object filterOutboundMessage(Object message) {
        if (message instanceof ByteBuf bytes) {
            boolean hasAddresses = bytes.hasMemoryAddress()
                    || (bytes.isDirect() && bytes.nioBufferCount() <= AddressVector.MAX_PIECES);
            return hasAddresses ? bytes : directCopy(bytes, bytes);
        }
        if (message instanceof FileRegion) {
            return message;
        }
        throw new UnsupportedOperationException("unsupported message type: " + StringUtil.simpleClassName(message)
                + " (expected: ByteBuf or FileRegion)");
    }

    @Override
    protected final void doWrite(ChannelOutboundBuffer out) throws Exception {
        int attempts = config().getWriteSpinCount();
        do {
            Object current = out.current();
            if (current == null) {
                stopWanting(Bits.WRITABLE);
                return;
            }
            attempts -= current instanceof ByteBuf bytes
                    ? out.size() > 1 ? writeMany(out) : writeOne(out, bytes)
                    : writeRegion(out, (FileRegion) current);
        } while (attempts > 0);
        if (attempts < 0) {
            want(Bits.WRITABLE);
        } else {
            // The socket would take more, but others have to be served, too.
            stopWanting(Bits.WRITABLE);
            if (!flushesAgain) {
                flushesAgain = true;
                eventLoop().execute(flushAgain);
            }
        }
    }

    private void flushAgain() {
        if (flushesAgain && eventLoop().inEventLoop()) {
            flushesAgain = false;
            ((StreamUnsafe) unsafe()).flush0();
        }
    }

    /** A flush goes on by the next loop: this one may come to it after that one has taken the channel. */
    @Override
    final void passOn() {
        if (flushesAgain) {
            flushesAgain = false;
            want(Bits.WRITABLE);
        }
    }

    private int writeOne(ChannelOutboundBuffer out, ByteBuf bytes) throws Exception {
        int length = bytes.readableBytes();
        if (length == 0) {
            out.remove();
            return 0;
        }
        if (!bytes.hasMemoryAddress()) {
            return writeMany(out);
        }
        CallState calls = memory().calls;
        long address = bytes.memoryAddress() + bytes.readerIndex();
        long sent;
        do {
            sent = Sockets.send(calls, fd(), address, length);
        } while (Errno.isInterrupted(sent));
        return settle(out, "send", sent);
    }

    private int writeMany(ChannelOutboundBuffer out) throws Exception {
        LoopMemory memory = memory();
        memory.gather(out, MOST);
        if (memory.vector.count() == 0) {
            out.removeBytes(0); // nothing but empty buffers
            return 0;
        }
        long sent;
        do {
            sent = SocketSteps.send(memory.calls, fd(), memory.vector);
        } while (Errno.isInterrupted(sent));
        return settle(out, "sendmsg", sent);
    }

    private int settle(ChannelOutboundBuffer out, String call, long sent) throws Exception {
        if (sent > 0) {
            out.removeBytes(sent);
            return 1;
        }
        if (Errno.isWouldBlock(sent)) {
            return FULL;
        }
        throw SocketErrors.io(call, fd(), sent);
    }

    @SuppressWarnings("ReferenceEquality") // the same region, not one like it
    private int writeRegion(ChannelOutboundBuffer out, FileRegion region) throws Exception {
        RegionFile sending = file;
        if (sending == null || sending.region() != region) {
            closeFile();
            sending = RegionFile.open(region);
            file = sending;
        }
        if (region.transferred() >= region.count()) {
            closeFile();
            out.remove();
            return 0;
        }
        long sent = sending == null ? region.transferTo(regionTarget(), region.transferred()) : sendFile(sending);
        if (sent > 0) {
            out.progress(sent);
            if (region.transferred() >= region.count()) {
                closeFile();
                out.remove();
            }
            return 1;
        }
        return FULL;
    }

    /** Returns the count, or 0 if the socket is full. */
    private long sendFile(RegionFile from) throws Exception {
        FileRegion region = from.region();
        long position = region.position() + region.transferred();
        long left = Math.min(region.count() - region.transferred(), MOST);
        CallState calls = memory().calls;
        long sent;
        do {
            sent = Files.send(calls, fd(), from.fd(), position, left);
        } while (Errno.isInterrupted(sent));
        if (sent > 0) {
            from.advance(sent);
            return sent;
        }
        if (sent == 0) {
            throw new EOFException("cannot send " + region.count() + " bytes of a file from position "
                    + region.position() + ": it ends at " + position);
        }
        if (Errno.isWouldBlock(sent)) {
            return 0;
        }
        throw SocketErrors.io("sendfile", fd(), sent);
    }

    private void closeFile() {
        RegionFile open = file;
        if (open != null) {
            file = null;
            open.close();
        }
    }

    private WritableByteChannel regionTarget() {
        WritableByteChannel target = regionTarget;
        if (target == null) {
            target = new RegionTarget();
            regionTarget = target;
        }
        return target;
    }

    /** Where a region writes to whose file has no descriptor for us. */
    private final class RegionTarget implements WritableByteChannel {
        @Override
        public int write(ByteBuffer from) throws IOException {
            int length = from.remaining();
            if (length == 0) {
                return 0;
            }
            int sent = from.isDirect() ? send(LoopMemory.addressOf(from), length) : sendCopied(from, length);
            from.position(from.position() + sent);
            return sent;
        }

        private int sendCopied(ByteBuffer from, int length) throws IOException {
            int part = Math.min(length, Scratch.MAX_BYTES);
            try (Scratch scratch = Scratch.borrow(part)) {
                scratch.take(from, from.position(), part);
                return send(scratch.address(), part);
            }
        }

        private int send(long address, int length) throws IOException {
            CallState calls = memory().calls;
            long sent;
            do {
                sent = Sockets.send(calls, fd(), address, length);
            } while (Errno.isInterrupted(sent));
            if (sent >= 0) {
                return (int) sent;
            }
            if (Errno.isWouldBlock(sent)) {
                return 0;
            }
            throw SocketErrors.io("send", fd(), sent) instanceof IOException e ? e : new ClosedChannelException();
        }

        @Override
        public boolean isOpen() {
            return StreamChannel.this.isOpen();
        }

        @Override
        public void close() {
            var _ = StreamChannel.this.close();
        }
    }

    // ---- Half close ----

    @Override
    public final boolean isInputShutdown() {
        return inputShutdown || !isActive();
    }

    @Override
    public final boolean isOutputShutdown() {
        return outputShutdown || !isActive();
    }

    @Override
    public final boolean isShutdown() {
        return (inputShutdown && outputShutdown) || !isActive();
    }

    @Override
    protected final void doShutdownOutput() throws Exception {
        int fd = use();
        try {
            requireConnected();
            Sockets.shutdownOutput(fd);
            outputShutdown = true;
        } finally {
            descriptor.release();
        }
    }

    private void requireConnected() {
        if (!connected) {
            throw new NotYetConnectedException();
        }
    }

    @Override
    public final ChannelFuture shutdownOutput() {
        return shutdownOutput(newPromise());
    }

    @Override
    public final ChannelFuture shutdownOutput(ChannelPromise promise) {
        onLoop(() -> ((AbstractUnsafe) unsafe()).shutdownOutput(promise));
        return promise;
    }

    @Override
    public final ChannelFuture shutdownInput() {
        return shutdownInput(newPromise());
    }

    @Override
    public final ChannelFuture shutdownInput(ChannelPromise promise) {
        onLoop(() -> doShutdownInput(promise));
        return promise;
    }

    private void doShutdownInput(ChannelPromise promise) {
        try {
            int fd = use();
            try {
                requireConnected();
                Sockets.shutdownInput(fd);
            } finally {
                descriptor.release();
            }
            inputShutdown = true;
            promise.setSuccess();
        } catch (Throwable e) {
            promise.setFailure(e);
        }
    }

    @Override
    public final ChannelFuture shutdown() {
        return shutdown(newPromise());
    }

    /** The output first; the input even if that failed. The first failure counts. */
    @Override
    public final ChannelFuture shutdown(ChannelPromise promise) {
        shutdownOutput().addListener((ChannelFutureListener) output -> shutdownInput()
                .addListener((ChannelFutureListener) input -> {
                    Throwable failure = output.cause() != null ? output.cause() : input.cause();
                    if (failure != null) {
                        promise.setFailure(failure);
                    } else {
                        promise.setSuccess();
                    }
                }));
        return promise;
    }

    private void onLoop(Runnable what) {
        EventLoop loop = eventLoop();
        if (loop.inEventLoop()) {
            what.run();
        } else {
            loop.execute(what);
        }
    }

    // ---- Life ----

    @Override
    protected void doClose() throws Exception {
        connected = false;
        try {
            super.doClose();
        } finally {
            closeFile();
        }
    }

    @Override
    protected final SocketUnsafe newUnsafe() {
        return new StreamUnsafe();
    }

    private final class StreamUnsafe extends SocketUnsafe {
        /** With SO_LINGER, close(2) blocks; the loop has to be free meanwhile, and not to hear of the socket. */
        @Override
        protected @Nullable Executor prepareToClose() {
            try {
                if (isOpen() && soLinger() > 0) {
                    doDeregister();
                    return GlobalEventExecutor.INSTANCE;
                }
            } catch (RuntimeException e) {
                // Closed meanwhile; then nothing lingers.
            }
            return null;
        }
    }
}
