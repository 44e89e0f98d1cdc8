package io.millrace.engine.transport;

import io.millrace.engine.Priority;
import io.millrace.engine.reactor.EventSink;
import io.millrace.engine.reactor.Prefetchable;
import io.millrace.engine.reactor.Reactor;
import io.millrace.net.ByteStream;
import io.millrace.net.FileSource;
import io.millrace.net.Io;
import io.millrace.poll.Interest;
import io.millrace.poll.Trigger;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A connection on a reactor with a readiness backend. This is the hottest code of all.
 *
 * <p>The socket is registered once, for both directions with edges, and never changed in the kernel; what is of no
 * interest at the moment is masked by fields here. A read that returns fewer bytes than there was room for has drained
 * the socket, so no second read follows; unless the kernel reported an end or an error, which the short read would
 * otherwise hide for ever (mill-8). A connection that sends without pause is read {@value #READS} times in a turn, or a
 * mebibyte, and then goes behind the others; so does one that has sent its share of a file, even if its socket would
 * take more.
 */
final class SocketTransport implements StreamTransport, EventSink, Prefetchable, Runnable {
    private static final int READS = 16;
    private static final int READ_SHARE = 1 << 20;

    private final ReactorServerLoop loop;
    private final Reactor reactor;
    private final ByteStream stream;
    private final TransportSink sink;
    private final int bufferSize;
    /** The socket's number, kept in use by the registration; negative if it has none. */
    private final int fd;
    /** To be told of would-block, if the kernel has no edges of its own. */
    private final @Nullable KernelHandle drained;

    /** What has become ready and was not handled yet, and whether it is in the run queue for that. */
    private int pending;

    private boolean queued;

    private boolean connecting;
    /** Whether there may be something to read, because no read has met would-block since it was reported. */
    private boolean readable;
    /** Whether an end or an error follows what can be read. */
    private boolean ending;

    private boolean paused;
    /**
     * Whether the end of the input was reported, so that no read follows: after the end was read, a hang-up comes once
     * more, as an event. The sink has its own flag, because a connection is over when both directions have ended.
     */
    private boolean inputEnded;
    /** Whether a send was refused, so that {@link TransportSink#onWritable} has to be called. */
    private boolean full;
    /** Whether it is {@code full} only because it has used up its share, and is in the run queue to continue. */
    private boolean shareTaken;
    /** How many bytes of files it may still send before it goes behind the others. */
    private long share = FILE_SHARE;

    private boolean closed;
    /** Whether it has failed and will be closed soon. */
    private boolean broken;
    /** Why, if it has not been said yet. */
    private @Nullable Throwable unexpected;

    /** Whether {@link #cutOff} has ended its input, so that the end that is read is not the peer's. */
    private volatile boolean cutOff;

    SocketTransport(ReactorServerLoop loop, ByteStream stream, TransportSink sink, int bufferSize) {
        this.loop = loop;
        this.reactor = loop.reactor;
        this.stream = stream;
        this.sink = sink;
        this.bufferSize = bufferSize;
        this.connecting = !stream.isConnected();
        KernelHandle handle = (KernelHandle) stream.handle();
        this.fd = handle.system() instanceof Descriptor descriptor ? descriptor.fd() : -1;
        this.drained = reactor.emulatesTriggers() ? handle : null;
    }

    @Override
    public int prefetch() {
        return sink.prefetch();
    }

    void register() {
        reactor.register(stream, 0, this, Interest.READ_WRITE, Trigger.EDGE);
    }

    @Override
    public void onReady(int bits) {
        pending |= bits;
        queue();
    }

    private void queue() {
        if (!queued) {
            queued = true;
            reactor.add(this, Priority.NORMAL);
        }
    }

    @Override
    public void run() {
        queued = false;
        int bits = pending;
        pending = 0;
        if (closed || broken) {
            failAfterAll();
            return;
        }
        share = FILE_SHARE;
        try {
            if (connecting && !finishConnect()) {
                return;
            }
            if ((bits & (Bits.READABLE | Bits.READ_CLOSED | Bits.ERROR)) != 0) {
                readable = true;
                ending |= (bits & (Bits.READ_CLOSED | Bits.ERROR)) != 0;
            }
            if (full && (shareTaken || (bits & (Bits.WRITABLE | Bits.WRITE_CLOSED | Bits.ERROR)) != 0)) {
                full = false;
                shareTaken = false;
                sink.onWritable();
            }
            if (readable) {
                read();
            }
        } catch (IOException e) {
            failSoon(e);
        } catch (Throwable e) {
            // Not thrown by the handler, whose exceptions the sink contains: the state of this connection cannot be
            // trusted any more. Nothing here needs memory, the lack of which is the usual reason.
            broken = true;
            unexpected = e;
            queue();
        }
    }

    /** Ends the connection after a failure that was not expected: in the next turn in which there is memory for that. */
    private void failAfterAll() {
        Throwable cause = unexpected;
        if (cause == null) {
            return;
        }
        IOException told;
        try {
            told = new IOException(
                    "cannot go on with " + this + ": " + cause.getClass().getName(), cause);
        } catch (OutOfMemoryError e) {
            queue();
            return;
        }
        unexpected = null;
        fail(told);
    }

    private boolean finishConnect() throws IOException {
        if (!stream.finishConnect()) {
            return false;
        }
        connecting = false;
        sink.onConnected();
        return !closed;
    }

    private void read() throws IOException {
        int bytes = 0;
        for (int i = 0; i < READS && bytes < READ_SHARE; i++) {
            if (paused || closed || inputEnded) {
                return;
            }
            ByteBuffer buffer = loop.buffer.cleared(bufferSize);
            int got = tryRead(buffer);
            if (got == Io.WOULD_BLOCK) {
                readable = false;
                return;
            }
            if (got == Io.EOF) {
                readable = false;
                inputEnded = true;
                if (!cutOff) {
                    sink.onEndOfInput();
                }
                return;
            }
            bytes += got;
            if (got < bufferSize && !ending) {
                readable = false;
            }
            sink.onReceived(buffer.flip());
            if (!readable) {
                return;
            }
        }
        queue();
    }

    private int tryRead(ByteBuffer buffer) throws IOException {
        if (fd < 0) {
            return stream.tryRead(buffer);
        }
        int got = loop.buffer.receive(fd);
        if (drained != null && got != Io.EOF && buffer.hasRemaining()) {
            drained.markDrained(Bits.READABLE);
        }
        return got;
    }

    private int tryWrite(ByteBuffer buffer) throws IOException {
        if (fd < 0 || closed || !loop.buffer.owns(buffer)) {
            return stream.tryWrite(buffer);
        }
        int sent = loop.buffer.send(fd, buffer);
        if (drained != null && buffer.hasRemaining()) {
            drained.markDrained(Bits.WRITABLE);
        }
        return sent;
    }

    /** Fails soon rather than now, because a thousand connections may be reset at once. */
    private void failSoon(IOException cause) {
        broken = true;
        reactor.runSoon(() -> fail(cause));
    }

    /** Closes after the sink was told, which decides whether the peer sees an end or a reset. */
    private void fail(IOException cause) {
        if (!closed) {
            broken = true;
            try {
                sink.onFailed(cause);
            } finally {
                close();
            }
        }
    }

    @Override
    public boolean send(ByteBuffer[] buffers, int first, int count) throws IOException {
        if (full) {
            return false;
        }
        int at = first;
        int end = first + count;
        for (; ; ) {
            while (at < end && !buffers[at].hasRemaining()) {
                at++;
            }
            if (at == end) {
                return true;
            }
            int sent = at + 1 == end ? stream.tryWrite(buffers[at]) : stream.tryWrite(buffers, at, end - at);
            if (sent == Io.WOULD_BLOCK) {
                full = true;
                return false;
            }
        }
    }

    @Override
    public boolean send(ByteBuffer buffer) throws IOException {
        while (!full && buffer.hasRemaining()) {
            if (tryWrite(buffer) == Io.WOULD_BLOCK) {
                full = true;
            }
        }
        return !buffer.hasRemaining();
    }

    @Override
    public long sendFile(FileSource file, long position, long count) throws IOException {
        long moved = 0;
        while (moved < count && !full) {
            long sent = share == 0 ? 0 : stream.trySend(file, position + moved, Math.min(count - moved, share));
            if (sent == Io.WOULD_BLOCK) {
                full = true;
            } else if (sent == Io.EOF && moved == 0) {
                return Io.EOF;
            } else if (sent <= 0) {
                // The share is used up, or the file has ended, which the next call will report.
                full = true;
                shareTaken = true;
                queue();
            } else {
                moved += sent;
                share -= sent;
            }
        }
        return moved;
    }

    @Override
    public void closeOutput() {
        try {
            stream.shutdownOutput();
        } catch (IOException e) {
            // It is broken already, and a read will report that.
        }
    }

    @Override
    public boolean hasInput() {
        return readable && !inputEnded;
    }

    @Override
    public void readNow() {
        if (closed || broken || connecting) {
            return;
        }
        try {
            read();
        } catch (IOException e) {
            fail(e);
        }
    }

    @Override
    public void pause() {
        paused = true;
    }

    @Override
    public void resume() {
        paused = false;
        if (readable && !closed) {
            queue();
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            stream.close();
        }
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public void onReactorEnd() {
        if (!closed && !broken) {
            try {
                sink.onLoopEnd();
            } finally {
                close();
            }
        }
    }

    @Override
    public void cutOff() {
        cutOff = true;
        try {
            stream.shutdownOutput();
            stream.shutdownInput();
        } catch (IOException | IllegalStateException e) {
            // It is broken or closed already, so the peer knows; or it is still connecting and has no peer yet.
        }
    }

    @Override
    public String toString() {
        return sink + " on " + stream;
    }
}
