package io.millrace.conformance;

import io.millrace.engine.CompletionDescriptor;
import io.millrace.engine.CompletionEventManager;
import io.millrace.engine.ReadResult;
import io.millrace.engine.WriteResult;
import io.millrace.net.ByteStream;
import io.millrace.net.Io;
import io.millrace.net.UdpSocket;
import io.millrace.poll.Event;
import io.millrace.poll.Source;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A completion descriptor of {@link ThreadyManager}: a read and a write that the I/O thread carries on as far as it goes. */
final class ThreadyCompletion extends IoThread.Served implements CompletionDescriptor {
    private record Read(Supplier<ByteBuffer> allocator, Consumer<ReadResult> callback) {}

    private record Write(
            List<ByteBuffer> buffers, @Nullable InetSocketAddress target, Consumer<WriteResult> callback) {}

    private final ThreadyManager manager;
    private final IoThread io;
    /** One of the two. */
    private final @Nullable ByteStream stream;

    private final @Nullable UdpSocket socket;

    private volatile @Nullable Object attachment;

    // Guarded by this.
    private @Nullable Read read;
    private @Nullable Write write;
    private boolean isClosed;

    // The I/O thread only.
    private boolean isFinished;
    private boolean mayRead;
    private boolean mayWrite = true;
    private @Nullable ByteBuffer spare;
    private long written;

    ThreadyCompletion(ThreadyManager manager, IoThread io, @Nullable ByteStream stream, @Nullable UdpSocket socket) {
        super(io);
        this.manager = manager;
        this.io = io;
        this.stream = stream;
        this.socket = socket;
    }

    // ---- The I/O thread ----

    @Override
    void ready(Event event) {
        mayRead |= event.isReadable();
        mayWrite |= event.isWritable();
    }

    @Override
    void serve() {
        if (isFinished) {
            return;
        }
        boolean closing;
        Read reading;
        Write writing;
        synchronized (this) {
            closing = isClosed;
            reading = read;
            writing = write;
        }
        if (closing) {
            finish(reading, writing);
            return;
        }
        try {
            if (stream != null && !stream.finishConnect()) {
                return;
            }
        } catch (IOException e) {
            endRead(reading, new ReadResult.Failed(e));
            endWrite(writing, new WriteResult.Failed(e, 0));
            return;
        }
        if (writing != null && mayWrite) {
            goOnWriting(writing);
        }
        if (reading != null && mayRead) {
            goOnReading(reading);
        }
    }

    private void finish(@Nullable Read reading, @Nullable Write writing) {
        isFinished = true;
        endRead(reading, new ReadResult.Closed());
        endWrite(writing, new WriteResult.Closed());
        io.deregister(this, source());
        if (stream != null) {
            stream.close();
        } else if (socket != null) {
            socket.close();
        }
    }

    private Source source() {
        return stream != null ? stream : Objects.requireNonNull(socket);
    }

    private void endRead(@Nullable Read reading, ReadResult result) {
        if (reading != null) {
            synchronized (this) {
                read = null;
            }
            spare = null;
            manager.serve(() -> reading.callback.accept(result));
            manager.reads.incrementAndGet();
        }
    }

    private void endWrite(@Nullable Write writing, WriteResult result) {
        if (writing != null) {
            synchronized (this) {
                write = null;
            }
            written = 0;
            manager.serve(() -> writing.callback.accept(result));
        }
    }

    private void goOnReading(Read reading) {
        ByteBuffer into = spare;
        try {
            if (into == null) {
                into = reading.allocator.get();
            }
            if (!into.hasRemaining()) {
                throw new IOException("the allocator gave a buffer without room: " + into);
            }
            int start = into.position();
            int got = stream != null
                    ? stream.tryRead(into)
                    : Objects.requireNonNull(socket).tryReceive(into);
            if (got == Io.WOULD_BLOCK) {
                spare = into;
                mayRead = false;
            } else if (got == Io.EOF) {
                endRead(reading, new ReadResult.EndOfStream());
            } else {
                InetSocketAddress sender = socket == null ? null : socket.lastSender();
                endRead(reading, new ReadResult.Data(into.limit(start + got).position(start), sender));
            }
        } catch (IOException e) {
            endRead(reading, new ReadResult.Failed(e));
        } catch (Throwable e) {
            endRead(reading, new ReadResult.Failed(new IOException("the allocator threw", e)));
        }
    }

    private void goOnWriting(Write writing) {
        try {
            if (socket != null) {
                send(writing, socket);
                return;
            }
            ByteStream to = Objects.requireNonNull(stream);
            ByteBuffer[] buffers = writing.buffers.toArray(ByteBuffer[]::new);
            while (left(writing.buffers) > 0) {
                int wrote = to.tryWrite(buffers, 0, buffers.length);
                if (wrote == Io.WOULD_BLOCK) {
                    mayWrite = false;
                    return;
                }
                written += wrote;
            }
            endWrite(writing, new WriteResult.Written(written));
        } catch (IOException e) {
            endWrite(writing, new WriteResult.Failed(e, written));
        } catch (RuntimeException e) {
            endWrite(writing, new WriteResult.Failed(new IOException("the write was refused", e), written));
        }
    }

    private void send(Write writing, UdpSocket to) throws IOException {
        ByteBuffer datagram = ByteBuffer.allocate((int) left(writing.buffers));
        for (ByteBuffer buffer : writing.buffers) {
            datagram.put(buffer.duplicate());
        }
        datagram.flip();
        int sent = writing.target == null ? to.trySend(datagram) : to.trySendTo(datagram, writing.target);
        if (sent == Io.WOULD_BLOCK) {
            mayWrite = false;
            return;
        }
        for (ByteBuffer buffer : writing.buffers) {
            buffer.position(buffer.limit());
        }
        endWrite(writing, new WriteResult.Written(sent));
    }

    private static long left(List<ByteBuffer> buffers) {
        long left = 0;
        for (ByteBuffer buffer : buffers) {
            left += buffer.remaining();
        }
        return left;
    }

    // ---- Any thread ----

    @Override
    public void read(Supplier<ByteBuffer> allocator, Consumer<ReadResult> callback) {
        synchronized (this) {
            requireFree(read);
            read = new Read(allocator, callback);
        }
        poke();
    }

    @Override
    public void write(List<ByteBuffer> buffers, @Nullable InetSocketAddress target, Consumer<WriteResult> callback) {
        if (stream != null && target != null) {
            throw new IllegalArgumentException("a connection has its peer, and cannot write to " + target);
        }
        synchronized (this) {
            requireFree(write);
            write = new Write(List.copyOf(buffers), target, callback);
        }
        poke();
    }

    private void requireFree(@Nullable Object pending) {
        if (isClosed || pending != null) {
            throw new IllegalStateException((isClosed ? "it is closed: " : "one is pending: ") + this);
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            isClosed = true;
        }
        poke();
    }

    @Override
    void letGo() {
        close();
    }

    @Override
    public synchronized boolean isClosed() {
        return isClosed;
    }

    @Override
    public CompletionEventManager manager() {
        return manager;
    }

    /** Sources of {@code net} do not tell their numbers. */
    @Override
    public int fd() {
        return -1;
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
        return "completion of " + source() + (isClosed() ? ", closed" : "");
    }
}
