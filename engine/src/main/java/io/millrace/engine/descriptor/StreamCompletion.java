package io.millrace.engine.descriptor;

import io.millrace.engine.CompletionDescriptor;
import io.millrace.engine.CompletionEventManager;
import io.millrace.engine.Priority;
import io.millrace.engine.Reactors;
import io.millrace.engine.ReadResult;
import io.millrace.engine.WriteResult;
import io.millrace.engine.reactor.EventSink;
import io.millrace.engine.reactor.Reactor;
import io.millrace.net.ByteStream;
import io.millrace.net.Io;
import io.millrace.net.UdpSocket;
import io.millrace.poll.Interest;
import io.millrace.poll.Source;
import io.millrace.poll.Trigger;
import io.millrace.sys.Bits;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The completion descriptor of {@link Reactors}, built on readiness: try the call; if it would block, wait for the
 * kernel and try again.
 *
 * <p>Other threads use only the two pending operations, each in a {@link PendingOperation}. The thread that puts one in
 * hands it to the reactor. The reactor, or a close, takes it out and calls its callback. Everything else belongs to the
 * reactor's thread.
 */
public abstract sealed class StreamCompletion implements CompletionDescriptor, EventSink {
    private static final Interest BOTH = Interest.READ_WRITE;

    public final Reactor reactor;
    private final CompletionEventManager manager;
    private final DescriptorTable table;
    private final Source source;
    private final int fd;
    private final PendingOperation<Reading> reading = new PendingOperation<>();
    private final PendingOperation<Writing> writing = new PendingOperation<>();
    private final AtomicBoolean closed = new AtomicBoolean();
    private @Nullable Object attachment;

    /** Whether the kernel reported it ready and no call has met would-block since. Used on the reactor's thread. */
    private boolean readable;

    private boolean writable;
    /**
     * Whether the kernel reported an end or an error that is still to be read; then a short read does not mean that the
     * socket is drained.
     */
    private boolean ending;

    private final Runnable tryRead = this::tryRead;
    private final Runnable tryWrite = this::tryWrite;

    private StreamCompletion(CompletionEventManager manager, DescriptorTable table, Reactor reactor, Source source) {
        this.manager = manager;
        this.table = table;
        this.reactor = reactor;
        this.source = source;
        this.fd = BorrowedFdSource.numberOf(source);
    }

    public static StreamCompletion of(
            CompletionEventManager manager, DescriptorTable table, Reactor reactor, ByteStream stream) {
        return new OfStream(manager, table, reactor, stream);
    }

    public static StreamCompletion of(
            CompletionEventManager manager, DescriptorTable table, Reactor reactor, UdpSocket socket) {
        return new OfUdp(manager, table, reactor, socket);
    }

    /** A pending read. */
    private static final class Reading {
        private final Supplier<ByteBuffer> allocator;
        private final Consumer<ReadResult> callback;
        private @Nullable ByteBuffer buffer;
        private int began;

        Reading(Supplier<ByteBuffer> allocator, Consumer<ReadResult> callback) {
            this.allocator = allocator;
            this.callback = callback;
        }

        /** Returns the buffer to read into, which the allocator is asked for once; null if it has no room. */
        @Nullable
        ByteBuffer room() {
            ByteBuffer present = buffer;
            if (present == null) {
                present = allocator.get();
                buffer = present;
                began = present.position();
            }
            return present.hasRemaining() ? present : null;
        }

        ByteBuffer filled() {
            ByteBuffer present = Objects.requireNonNull(buffer);
            return present.limit(present.position()).position(began);
        }
    }

    /** A pending write. */
    static final class Writing {
        final ByteBuffer[] buffers;
        final @Nullable InetSocketAddress target;
        private final Consumer<WriteResult> callback;
        /** The first buffer that is not completely written. */
        int first;

        long written;

        Writing(List<ByteBuffer> buffers, @Nullable InetSocketAddress target, Consumer<WriteResult> callback) {
            this.buffers = buffers.toArray(ByteBuffer[]::new);
            this.target = target;
            this.callback = callback;
        }
    }

    public void register() {
        reactor.register(source, 0, this, BOTH, Trigger.EDGE);
    }

    @Override
    public void onReady(int bits) {
        boolean failed = (bits & Bits.ERROR) != 0;
        ending |= failed || (bits & Bits.READ_CLOSED) != 0;
        if (failed || (bits & (Bits.READABLE | Bits.READ_CLOSED)) != 0) {
            readable = true;
            if (reading.get() != null) {
                reactor.add(tryRead, Priority.NORMAL);
            }
        }
        if (failed || (bits & (Bits.WRITABLE | Bits.WRITE_CLOSED)) != 0) {
            writable = true;
            if (writing.get() != null) {
                reactor.add(tryWrite, Priority.NORMAL);
            }
        }
    }

    // ---- Reading ----

    @Override
    public void read(Supplier<ByteBuffer> allocator, Consumer<ReadResult> callback) {
        Objects.requireNonNull(allocator, "allocator");
        Objects.requireNonNull(callback, "callback");
        begin(reading, new Reading(allocator, callback), "read", tryRead);
    }

    /** Starts an operation. Its callback is called once, unless this throws. */
    private <T> void begin(PendingOperation<T> slot, T operation, String doing, Runnable attempt) {
        if (closed.get()) {
            throw new IllegalStateException("cannot " + doing + ": " + this + " is closed");
        }
        slot.put(operation, doing, this);
        try {
            reactor.execute(attempt);
        } catch (RejectedExecutionException e) {
            // The reactor is in its last turn, which closes this descriptor and calls the callback.
        }
    }

    private void tryRead() {
        Reading pending = reading.get();
        if (pending == null || !readable) {
            return;
        }
        ReadResult result;
        try {
            ByteBuffer room = pending.room();
            result = room == null ? noRoom() : attempt(pending, room);
        } catch (IOException e) {
            result = closed.get() ? new ReadResult.Closed() : new ReadResult.Failed(e);
        } catch (Throwable e) {
            result = new ReadResult.Failed(new IOException("cannot read from " + this + ": the allocator failed", e));
        }
        if (result != null && reading.take(pending)) {
            pending.callback.accept(result);
        }
    }

    private ReadResult noRoom() {
        return new ReadResult.Failed(
                new IOException("cannot read from " + this + ": the allocator gave a buffer without room"));
    }

    /** Returns null if it would block. */
    private @Nullable ReadResult attempt(Reading pending, ByteBuffer room) throws IOException {
        int wanted = room.remaining();
        int got = receive(room);
        if (got == Io.WOULD_BLOCK) {
            readable = false;
            return null;
        }
        if (got == Io.EOF) {
            return new ReadResult.EndOfStream();
        }
        if (got < wanted && isShortReadTheEnd() && !ending) {
            readable = false;
        }
        return new ReadResult.Data(pending.filled(), sender());
    }

    // ---- Writing ----

    @Override
    public void write(List<ByteBuffer> buffers, @Nullable InetSocketAddress target, Consumer<WriteResult> callback) {
        Objects.requireNonNull(callback, "callback");
        requireTarget(target);
        // Copied, and nulls rejected, before anything is pending.
        begin(writing, new Writing(List.copyOf(buffers), target, callback), "write", tryWrite);
    }

    private void tryWrite() {
        Writing pending = writing.get();
        if (pending == null || !writable) {
            return;
        }
        WriteResult result;
        try {
            if (!send(pending)) {
                writable = false;
                return;
            }
            result = new WriteResult.Written(pending.written);
        } catch (IOException e) {
            result = closed.get() ? new WriteResult.Closed() : new WriteResult.Failed(e, pending.written);
        } catch (Throwable e) {
            // For example a datagram without a target on an unconnected socket, or a buffer that is also used
            // elsewhere.
            result = new WriteResult.Failed(
                    new IOException("cannot write to " + this + ": " + why(e), e), pending.written);
        }
        if (writing.take(pending)) {
            pending.callback.accept(result);
        }
    }

    private static String why(Throwable failure) {
        try {
            return String.valueOf(failure.getMessage());
        } catch (Throwable e) {
            return failure.getClass().getName();
        }
    }

    // ---- What the two kinds implement ----

    abstract int receive(ByteBuffer into) throws IOException;

    abstract @Nullable InetSocketAddress sender();

    abstract boolean isShortReadTheEnd();

    /** Continues to send. Returns false if it would block before everything is sent. */
    abstract boolean send(Writing pending) throws IOException;

    abstract void requireTarget(@Nullable InetSocketAddress target);

    // ---- Closing ----

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            reactor.executeAlways(this::closeNow, Priority.SYSTEM);
        }
    }

    @Override
    public boolean isOf(Reactor other) {
        return reactor == other;
    }

    @Override
    public void onReactorEnd() {
        close();
    }

    private void closeNow() {
        Reading read = reading.close();
        Writing write = writing.close();
        try {
            if (read != null) {
                read.callback.accept(new ReadResult.Closed());
            }
        } finally {
            try {
                if (write != null) {
                    write.callback.accept(new WriteResult.Closed());
                }
            } finally {
                table.forget(this, fd);
                closeSource();
            }
        }
    }

    abstract void closeSource();

    @Override
    public CompletionEventManager manager() {
        return manager;
    }

    @Override
    public int fd() {
        return closed.get() ? -1 : fd;
    }

    @Override
    public boolean isClosed() {
        return closed.get();
    }

    @Override
    public @Nullable Object attachment() {
        return attachment;
    }

    @Override
    public void setAttachment(@Nullable Object attachment) {
        this.attachment = attachment;
    }

    @Override
    public String toString() {
        return "completion descriptor of " + source + (isClosed() ? ", closed" : "");
    }

    private static final class OfStream extends StreamCompletion {
        private final ByteStream stream;

        OfStream(CompletionEventManager manager, DescriptorTable table, Reactor reactor, ByteStream stream) {
            super(manager, table, reactor, stream);
            this.stream = stream;
        }

        @Override
        int receive(ByteBuffer into) throws IOException {
            return stream.finishConnect() ? stream.tryRead(into) : Io.WOULD_BLOCK;
        }

        @Override
        @Nullable
        InetSocketAddress sender() {
            return null;
        }

        @Override
        boolean isShortReadTheEnd() {
            return true;
        }

        @Override
        boolean send(Writing pending) throws IOException {
            if (!stream.finishConnect()) {
                return false;
            }
            ByteBuffer[] buffers = pending.buffers;
            for (; ; ) {
                while (pending.first < buffers.length && !buffers[pending.first].hasRemaining()) {
                    pending.first++;
                }
                if (pending.first == buffers.length) {
                    return true;
                }
                int sent = stream.tryWrite(buffers, pending.first, buffers.length - pending.first);
                if (sent == Io.WOULD_BLOCK) {
                    return false;
                }
                pending.written += sent;
            }
        }

        @Override
        void requireTarget(@Nullable InetSocketAddress target) {
            if (target != null) {
                throw new IllegalArgumentException(
                        "cannot write to " + target + ": " + this + " is a connection; leave the target out");
            }
        }

        @Override
        void closeSource() {
            stream.close();
        }
    }

    private static final class OfUdp extends StreamCompletion {
        private final UdpSocket socket;

        OfUdp(CompletionEventManager manager, DescriptorTable table, Reactor reactor, UdpSocket socket) {
            super(manager, table, reactor, socket);
            this.socket = socket;
        }

        @Override
        int receive(ByteBuffer into) throws IOException {
            return socket.tryReceive(into);
        }

        @Override
        @Nullable
        InetSocketAddress sender() {
            return socket.lastSender();
        }

        @Override
        boolean isShortReadTheEnd() {
            return false;
        }

        @Override
        boolean send(Writing pending) throws IOException {
            ByteBuffer datagram = gathered(pending.buffers);
            int size = datagram.remaining();
            InetSocketAddress target = pending.target;
            int sent = target == null ? socket.trySend(datagram) : socket.trySendTo(datagram, target);
            if (sent == UdpSocket.WOULD_BLOCK) {
                return false;
            }
            for (ByteBuffer buffer : pending.buffers) {
                buffer.position(buffer.limit());
            }
            pending.written = size;
            return true;
        }

        private static ByteBuffer gathered(ByteBuffer[] buffers) {
            if (buffers.length == 1) {
                return buffers[0];
            }
            int size = 0;
            for (ByteBuffer buffer : buffers) {
                size += buffer.remaining();
            }
            ByteBuffer all = ByteBuffer.allocate(size);
            for (ByteBuffer buffer : buffers) {
                all.put(buffer.duplicate());
            }
            return all.flip();
        }

        @Override
        void requireTarget(@Nullable InetSocketAddress target) {
            // Whether it has to be connected is up to the socket, which says so when it sends.
        }

        @Override
        void closeSource() {
            socket.close();
        }
    }
}
