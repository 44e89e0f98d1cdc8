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
 * A connection on a reactor with a readiness backend: the hottest code there is.
 *
 * <p>It is registered once, for both directions and edges, and never changed in the kernel; what it is not interested in at the moment is masked by fields of
 * its own. A read that got fewer bytes than there was room for has drained the socket, and no second read asks again; unless the kernel said that there is an
 * end or an error, which that short read would have hidden for ever (mill-8). A connection that sends without end is read {@value #READS} times in a turn or a
 * mebibyte, and then goes behind the others; so does one that has sent its share of a file, though its socket would take more.
 */
final class SocketTransport implements StreamTransport, EventSink, Prefetchable, Runnable {
    private static final int READS = 16;
    private static final int READ_SHARE = 1 << 20;

    private final ReactorServerLoop loop;
    private final Reactor reactor;
    private final ByteStream stream;
    private final TransportHandler handler;
    private final int bufferSize;
    /** The socket's number, of which the registration holds a use; negative if it has none. */
    private final int fd;
    /** Who must hear of would-block, if the kernel has no edges of its own. */
    private final @Nullable KernelHandle drained;

    /** What has become ready and was not looked at; and whether it is in the run queue for that. */
    private int pending;

    private boolean queued;

    private boolean connecting;
    /** There may be something to read, and no read has found otherwise. */
    private boolean readable;
    /** There is an end or an error behind what can be read. */
    private boolean ending;

    private boolean paused;
    private boolean inputEnded;
    /** A send was refused, and the handler waits to be told. */
    private boolean full;
    /** It is {@code full} only because it has had its share, and is in the run queue to be told so. */
    private boolean shareTaken;
    /** How many bytes of files it may still send before it goes behind the others. */
    private long share = FILE_SHARE;

    private boolean closed;
    /** It has failed, and will be closed soon. */
    private boolean broken;

    SocketTransport(ReactorServerLoop loop, ByteStream stream, TransportHandler handler, int bufferSize) {
        this.loop = loop;
        this.reactor = loop.reactor;
        this.stream = stream;
        this.handler = handler;
        this.bufferSize = bufferSize;
        this.connecting = !stream.isConnected();
        KernelHandle handle = (KernelHandle) stream.handle();
        this.fd = handle.system() instanceof Descriptor descriptor ? descriptor.fd() : -1;
        this.drained = reactor.emulatesTriggers() ? handle : null;
    }

    @Override
    public int prefetch() {
        return handler.prefetch();
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
                handler.writable();
            }
            if (readable) {
                read();
            }
        } catch (IOException e) {
            failSoon(e);
        } catch (Throwable e) {
            // Not the handler's, which contains its own: the state of this connection cannot be trusted any more.
            failSoon(new IOException(
                    "cannot go on with " + this + ": " + e.getClass().getName(), e));
        }
    }

    private boolean finishConnect() throws IOException {
        if (!stream.finishConnect()) {
            return false;
        }
        connecting = false;
        handler.connected();
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
                handler.endOfInput();
                return;
            }
            bytes += got;
            if (got < bufferSize && !ending) {
                readable = false;
            }
            handler.received(buffer.flip());
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
            drained.drained(Bits.READABLE);
        }
        return got;
    }

    private int tryWrite(ByteBuffer buffer) throws IOException {
        if (fd < 0 || closed || !loop.buffer.owns(buffer)) {
            return stream.tryWrite(buffer);
        }
        int sent = loop.buffer.send(fd, buffer);
        if (drained != null && buffer.hasRemaining()) {
            drained.drained(Bits.WRITABLE);
        }
        return sent;
    }

    /** A thousand may be reset at once. */
    private void failSoon(IOException cause) {
        broken = true;
        reactor.soon(() -> fail(cause));
    }

    private void fail(IOException cause) {
        if (!closed) {
            close();
            handler.failed(cause);
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
                // The share, or the end of the file, which the next call will tell.
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
            // It is broken already: a read will say so.
        }
    }

    @Override
    public boolean hasInput() {
        return readable && !inputEnded;
    }

    @Override
    public void readNow() {
        if (closed || connecting) {
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
                handler.loopEnds();
            } finally {
                close();
            }
        }
    }

    @Override
    public void cutOff() {
        try {
            stream.shutdownOutput();
            stream.shutdownInput();
        } catch (IOException | IllegalStateException e) {
            // It is broken or closed already, so the peer knows; or it is being connected, and there is no peer yet.
        }
    }

    @Override
    public String toString() {
        return handler + " on " + stream;
    }
}
