package io.millrace.server;

import io.millrace.engine.AlarmCallback;
import io.millrace.engine.AlarmKey;
import io.millrace.engine.ObjectPool;
import io.millrace.engine.Pooled;
import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.transport.StreamTransport;
import io.millrace.engine.transport.TransportHandler;
import io.millrace.engine.transport.TransportLoop;
import io.millrace.net.TcpStream;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * One connection, between its transport and its handler. Its state belongs to its loop; what other threads ask for is handed over.
 *
 * <h2>A byte's walk</h2>
 *
 * The transport reads into the loop's buffer and calls {@link #received}; the handler's {@code onData} sees that buffer. What it sends meanwhile is gathered by reference, and when
 * it returns goes to the system in one call, before the buffer is used again. Only what the system refused is copied and waits in the {@link WriteQueue}. What is
 * sent elsewhere is copied, and goes out at the end of the loop's turn. A file has its place in the queue, and its bytes go from the system to the system.
 *
 * <h2>Ending</h2>
 *
 * <ol>
 *   <li>{@code ending}: close was called; nothing more is taken, and what waits goes out.
 *   <li>{@code lingering}, if the peer was sending: it is told the end, and read until it ends too, or for a second.
 *   <li>{@code over}: the transport is closed, the owner has forgotten the id, and {@code onDisconnect} is the last call.
 * </ol>
 */
final class StreamConnection implements Connection, TransportHandler, Runnable {
    /** Who has connections. */
    interface Keeper {
        /** One is over, and its handler has not been told yet. True for the first caller, which must then call {@link #hasEnded}. */
        boolean isOver(StreamConnection connection);

        /** The last call of a connection's handler has returned. */
        void hasEnded(StreamConnection connection);
    }

    /** A handler of a connection that is being made. */
    interface Attempt {
        /** There will be no connection: for this reason, or because it was closed before it was there. */
        void failed(@Nullable IOException cause);
    }

    /** How long a peer that goes on sending is listened to after the last byte was sent to it. */
    private static final long LINGER_NANOS = 1_000_000_000;

    private static final VarHandle BYTES_IN;
    private static final VarHandle BYTES_OUT;
    private static final VarHandle WAITING;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            BYTES_IN = lookup.findVarHandle(StreamConnection.class, "bytesIn", long.class);
            BYTES_OUT = lookup.findVarHandle(StreamConnection.class, "bytesOut", long.class);
            WAITING = lookup.findVarHandle(StreamConnection.class, "waiting", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final long id;
    private final TransportLoop loop;
    private final TcpStream stream;
    private final ConnectionHandler handler;
    private final ServerSettings settings;
    private final Keeper keeper;
    private final boolean onLoop;
    private final Serial callbacks;
    private final ObjectPool<ByteBuffer> buffers;
    /** Made when something has to wait for the first time, which in most connections nothing ever does. */
    private volatile WriteQueue queue = WriteQueue.NOTHING;

    private final InetSocketAddress remote;
    private volatile @Nullable InetSocketAddress local;

    private volatile @Nullable Object attachment;
    /** Of callbacks: what a {@link FrameDecoder} knows of this connection. */
    FrameDecoder.@Nullable Partial partialFrame;

    private volatile boolean ending;
    private volatile boolean outputEnding;
    /** Somebody was told that too much waits, and must be told when it does not. */
    private volatile boolean owesWritable;

    /** Bytes handed over by other threads that have not reached the queue; and those in the queue. */
    private volatile long waiting;

    // ---- The loop's ----
    private @Nullable StreamTransport transport;
    /** What was sent during the present callback, if it was one buffer; and its bounds then. */
    private @Nullable ByteBuffer single;

    private int singleFrom;
    private int singleTo;
    private long bytesIn;
    private long bytesOut;
    private boolean over;
    /** The handler knows of it, and must be told of its end. */
    private boolean announced;

    private boolean inCallback;
    private boolean flushing;
    private boolean aboveHigh;
    private boolean pausedByUser;
    private boolean pausedByBacklog;
    private boolean closeWhenSent;
    private boolean lingering;
    private boolean inputEnded;
    private boolean outputEnded;
    private boolean aborting;
    private long backlog;
    private long lastActivity;
    private long lastReceived;
    private long lastProgress;
    private long idleNanos;
    private @Nullable AlarmKey idleAlarm;
    private @Nullable AlarmKey writeAlarm;

    StreamConnection(
            long id,
            TransportLoop loop,
            TcpStream stream,
            ConnectionHandler handler,
            ServerSettings settings,
            Callbacks callbacks,
            Keeper keeper)
            throws IOException {
        this.id = id;
        this.loop = loop;
        this.stream = stream;
        this.handler = handler;
        this.settings = settings;
        this.keeper = keeper;
        this.onLoop = callbacks.isOnLoop();
        this.callbacks = callbacks.serial(id);
        this.buffers = callbacks.buffers();
        this.remote = stream.remoteAddress();
        this.local = stream.isConnected() ? stream.localAddress() : null;
        this.idleNanos = settings.idleNanos;
    }

    /** On the loop: the handler is told, and from then on of all that comes. */
    void open() {
        lastActivity = loop.now();
        lastReceived = lastActivity - LINGER_NANOS;
        if (ending) {
            finish(null); // closed before its loop came to it
            return;
        }
        try {
            transport = loop.attach(stream, this, settings.bufferSize(onLoop && loop.sharesBuffer()));
        } catch (Throwable e) {
            finish(new IOException("cannot watch " + this + ": " + e.getMessage(), e));
            return;
        }
        if (stream.isConnected()) {
            connected();
        }
    }

    @Override
    public void connected() {
        if (local == null) {
            try {
                local = stream.localAddress();
            } catch (IOException e) {
                finish(e);
                return;
            }
        }
        if (idleNanos > 0) {
            watchIdle();
        }
        announced = true;
        call(() -> handler.onConnect(this));
    }

    // ---- Calls of the handler ----

    /** A call that may throw. */
    interface Call {
        void run() throws Exception;
    }

    /** On the loop: calls the handler, here or elsewhere. */
    void call(Call what) {
        if (onLoop) {
            callHere(what);
        } else {
            callbacks.execute(() -> callSafely(what));
        }
    }

    /** On the loop: what is sent meanwhile is gathered, and flushed afterwards. */
    private void callHere(Call what) {
        boolean outer = inCallback;
        inCallback = true;
        callSafely(what);
        inCallback = outer;
        if (!outer) {
            afterCallback();
        }
    }

    /** What was sent goes out, what is left becomes ours, and what was asked for meanwhile is done. */
    private void afterCallback() {
        if (aborting) {
            finish(null);
            return;
        }
        flush();
        if (!queue.isEmpty()) {
            queue.own();
        }
    }

    private void callSafely(Call what) {
        try {
            what.run();
        } catch (Throwable e) { // checked ones too, which Kotlin and Lombok throw without saying so
            tellError(e);
        }
    }

    /** From a callback. */
    void tellError(Throwable failure) {
        if (failure instanceof InterruptedException && !onLoop) {
            Thread.currentThread().interrupt();
        }
        try {
            handler.onError(this, failure);
        } catch (Throwable e) {
            FailureLog.report("onError of " + this, e, failure);
        }
    }

    // ---- What the transport tells ----

    /** A field of each of its three lines of the cache. */
    @Override
    public int touch() {
        return (int) bytesIn + singleTo + (single == null ? 0 : 1);
    }

    @Override
    public void received(ByteBuffer data) {
        if (lingering) {
            return;
        }
        lastActivity = loop.now();
        lastReceived = lastActivity;
        BYTES_IN.setOpaque(this, bytesIn + data.remaining());
        if (onLoop) {
            deliverHere(data);
        } else {
            Pooled<ByteBuffer> copy = buffers.acquire();
            int size = data.remaining();
            copy.get().clear().put(data).flip();
            backlog += size;
            pauseOrResume();
            callbacks.execute(() -> {
                try (copy) {
                    callSafely(() -> handler.onData(this, copy.get()));
                }
                onLoop(() -> {
                    backlog -= size;
                    pauseOrResume();
                });
            });
        }
    }

    /** As {@link #callHere}, without an object for the call: this is the hot path. */
    private void deliverHere(ByteBuffer data) {
        inCallback = true;
        try {
            handler.onData(this, data);
        } catch (Throwable e) {
            tellError(e);
        }
        inCallback = false;
        if (single != null || !queue.isEmpty() || ending || outputEnding) {
            afterCallback();
        }
    }

    @Override
    public void endOfInput() {
        inputEnded = true;
        if (lingering) {
            finish(null);
            return;
        }
        call(() -> handler.onEndOfInput(this));
    }

    @Override
    public void writable() {
        flush();
    }

    @Override
    public void failed(IOException cause) {
        if (!over) {
            finish(lingering ? null : cause);
        }
    }

    // ---- Sending ----

    @Override
    public SendResult send(ByteBuffer data) {
        return sendsHere() ? sendHere(data) : handOver(WriteQueue.copy(data));
    }

    /** Whether what the calling thread sends need not be handed over to the loop. */
    boolean sendsHere() {
        return loop.inLoop() && (onLoop || inCallback);
    }

    private SendResult sendHere(ByteBuffer data) {
        if (ending || over || outputEnding) {
            return SendResult.CLOSED;
        }
        if (!data.hasRemaining()) {
            return result(queue.bytes());
        }
        if (!inCallback) {
            queue().addOwned(WriteQueue.copy(data));
            flushLater();
        } else if (single == null && queue.isEmpty()) {
            single = data;
            singleFrom = data.position();
            singleTo = data.limit();
        } else {
            gatherSingle();
            queue().addBorrowed(data.duplicate());
        }
        // The position is the caller's to see moved when this returns; the bytes are read when the callback does.
        long size = data.remaining();
        data.position(data.limit());
        return result(single == null ? queue.bytes() : size);
    }

    /** There is a second one: both go out together, each by its own bounds. */
    private void gatherSingle() {
        ByteBuffer first = single;
        if (first != null) {
            single = null;
            queue().addBorrowed(first.duplicate().clear().limit(singleTo).position(singleFrom));
        }
    }

    /** The usual case, without an object: one buffer was sent, and nothing waits before it. Its bounds are the user's again afterwards. */
    private boolean sendSingle(ByteBuffer data, StreamTransport to) throws IOException {
        int position = data.position();
        int limit = data.limit();
        data.clear().limit(singleTo).position(singleFrom);
        boolean all = to.send(data);
        BYTES_OUT.setOpaque(this, bytesOut + data.position() - singleFrom);
        if (!all) {
            queue().addOwned(WriteQueue.copy(data));
        }
        data.clear().limit(limit).position(position);
        return all;
    }

    /** Bytes that nobody changes any more, from any thread. */
    SendResult handOver(ByteBuffer data) {
        if (ending || outputEnding) {
            return SendResult.CLOSED;
        }
        int size = data.remaining();
        // Before it is handed over: so the flush that sends it knows what was promised.
        SendResult result = result(addWaiting(size) + queue.bytes());
        try {
            loop.execute(() -> {
                addWaiting(-size);
                sendShared(data);
            });
        } catch (RejectedExecutionException e) {
            addWaiting(-size);
            return SendResult.CLOSED;
        }
        return result;
    }

    /** On the loop: bytes that nobody changes any more. */
    void sendShared(ByteBuffer data) {
        if (!over && !outputEnded) {
            gatherSingle();
            queue().addOwned(data);
            flushLater();
        }
    }

    @Override
    public SendResult sendFile(Path file) throws IOException {
        return openAndSend(file, 0, FileRegion.TO_END);
    }

    @Override
    public SendResult sendFile(Path file, long position, long count) throws IOException {
        if (position < 0 || count < 0) {
            throw new IllegalArgumentException("cannot send " + count + " bytes of " + file + " from byte " + position
                    + " on: neither can be negative");
        }
        return openAndSend(file, position, count);
    }

    private SendResult openAndSend(Path file, long position, long count) throws IOException {
        if (ending || outputEnding) {
            return SendResult.CLOSED;
        }
        FileRegion region = FileRegion.open(loop.net(), file, position, count);
        boolean handedOn = false;
        try {
            if (region.left() <= FileRegion.SMALL) {
                return send(region.read());
            }
            SendResult result = sendsHere() ? sendFileHere(region) : handOverFile(region);
            handedOn = result != SendResult.CLOSED;
            return result;
        } finally {
            if (!handedOn) {
                region.close();
            }
        }
    }

    private SendResult sendFileHere(FileRegion region) {
        if (ending || over || outputEnding) {
            return SendResult.CLOSED;
        }
        gatherSingle();
        queue().addFile(region);
        if (!inCallback) {
            flushLater();
        }
        return result(queue.bytes());
    }

    /** As {@link #handOver}; the region is the loop's then, unless the result is CLOSED. */
    private SendResult handOverFile(FileRegion region) {
        long size = region.left();
        SendResult result = result(addWaiting(size) + queue.bytes());
        try {
            loop.execute(() -> {
                addWaiting(-size);
                if (over || outputEnded || lingering) {
                    region.close();
                } else {
                    queue().addFile(region);
                    flushLater();
                }
            });
        } catch (RejectedExecutionException e) {
            addWaiting(-size);
            return SendResult.CLOSED;
        }
        return result;
    }

    /** On the loop: the queue, to put something in. */
    @SuppressWarnings("ReferenceEquality") // identity is what is meant
    private WriteQueue queue() {
        WriteQueue own = queue;
        if (own == WriteQueue.NOTHING) {
            own = new WriteQueue();
            queue = own;
        }
        return own;
    }

    private long addWaiting(long bytes) {
        return (long) WAITING.getAndAdd(this, bytes) + bytes;
    }

    private SendResult result(long bytes) {
        if (bytes <= settings.highWater) {
            return SendResult.QUEUED;
        }
        owesWritable = true;
        return SendResult.ABOVE_HIGH_WATER;
    }

    private void flushLater() {
        if (!flushing) {
            flushing = true;
            loop.atEndOfTurn(this);
        }
    }

    /** At the end of a turn: what was sent out of a callback goes out. */
    @Override
    public void run() {
        flushing = false;
        flush();
    }

    private void flush() {
        StreamTransport to = transport;
        if (over || to == null) {
            return;
        }
        ByteBuffer borrowed = single;
        long before = queue.bytes();
        boolean empty;
        try {
            if (borrowed != null) {
                single = null;
                lastActivity = loop.now();
                empty = sendSingle(borrowed, to);
                before = queue.bytes();
            } else {
                empty = queue.isEmpty() || queue.flush(to);
            }
        } catch (IOException e) {
            finish(e);
            return;
        }
        long sent = before - queue.bytes();
        if (sent > 0) {
            lastActivity = loop.now();
            lastProgress = lastActivity;
            BYTES_OUT.setOpaque(this, bytesOut + sent);
        }
        afterFlush(to, empty);
    }

    private void afterFlush(StreamTransport to, boolean empty) {
        if (empty && closeWhenSent) {
            finishWhenRead(to);
            return;
        }
        if (empty && outputEnding && !outputEnded) {
            outputEnded = true;
            to.closeOutput();
        }
        long bytes = queue.bytes();
        if (!empty) {
            watchWrites();
        }
        if (queue.bufferedBytes() > settings.limit) {
            finish(new IOException(
                    "closed " + this + ": " + queue.bufferedBytes() + " bytes wait to be sent, more than the limit of "
                            + settings.limit + "; the peer does not read, so send less or raise the limit"));
        } else if (bytes > settings.highWater) {
            aboveHigh = true;
            pauseOrResume();
        } else if (bytes <= settings.lowWater) {
            if (aboveHigh) {
                aboveHigh = false;
                pauseOrResume();
            }
            if (owesWritable) {
                owesWritable = false;
                // Not from here: a handler that sends on would come back here, and deeper each time.
                loop.atEndOfTurn(this::tellWritable);
            }
        }
    }

    private void tellWritable() {
        if (!ending) {
            call(() -> handler.onWritable(this));
        }
    }

    @Override
    public long queuedBytes() {
        return waiting + queue.bytes();
    }

    // ---- Reading or not ----

    private void pauseOrResume() {
        pausedByBacklog = backlog > 4L * settings.bufferSize(false);
        StreamTransport to = transport;
        if (to == null || lingering) {
            return;
        }
        if (pausedByUser || pausedByBacklog || aboveHigh) {
            to.pause();
        } else {
            to.resume();
        }
    }

    @Override
    public void pauseReads() {
        onLoop(() -> {
            pausedByUser = true;
            pauseOrResume();
        });
    }

    @Override
    public void resumeReads() {
        onLoop(() -> {
            pausedByUser = false;
            pauseOrResume();
        });
    }

    private void onLoop(Runnable what) {
        if (loop.inLoop()) {
            what.run();
        } else {
            try {
                loop.execute(what);
            } catch (RejectedExecutionException e) {
                // The loop has ended, and the connection with it.
            }
        }
    }

    // ---- Ending ----

    @Override
    public void closeOutput() {
        onLoop(() -> {
            outputEnding = true;
            flushUnlessCalled();
        });
    }

    /** After a callback it is done anyway. */
    private void flushUnlessCalled() {
        if (!inCallback) {
            flush();
        }
    }

    @Override
    public void close() {
        if (!ending) {
            ending = true;
            // Behind what this thread has handed over before: only then is an empty queue the end.
            onLoop(() -> {
                closeWhenSent = true;
                flushUnlessCalled();
            });
        }
    }

    @Override
    public void abort() {
        ending = true;
        onLoop(() -> {
            aborting = true;
            if (!inCallback) {
                finish(null);
            }
        });
    }

    @Override
    public boolean isClosed() {
        return ending;
    }

    /** On the loop: it is over, for this reason if there is one. */
    private void finish(@Nullable IOException cause) {
        if (over) {
            return;
        }
        over = true;
        ending = true;
        StreamTransport to = transport;
        if (to != null) {
            to.close();
        } else {
            stream.close();
        }
        if (!queue.isEmpty()) {
            queue.clear();
        }
        single = null;
        cancel(idleAlarm);
        cancel(writeAlarm);
        idleAlarm = null;
        writeAlarm = null;
        boolean last = keeper.isOver(this);
        if (cause != null && announced) {
            call(() -> handler.onError(this, cause));
        }
        call(() -> {
            try {
                if (announced) {
                    handler.onDisconnect(this);
                } else if (handler instanceof Attempt attempt) {
                    attempt.failed(cause);
                } else if (cause != null) {
                    handler.onError(null, cause);
                }
            } finally {
                attachment = null;
                if (last) {
                    keeper.hasEnded(this);
                }
            }
        });
    }

    /** The loop is in its last turn: what the system takes now goes out, and then it is over. */
    @Override
    public void loopEnds() {
        if (over) {
            return;
        }
        try {
            flush();
        } finally {
            long left = queuedBytes();
            finish(
                    left == 0 || lingering
                            ? null
                            : new IOException("closed " + this + ": its event manager has ended, and " + left
                                    + " bytes could not be sent; close the server or client before its manager"));
        }
    }

    /** The peer is told that it is over, by shutdown(2), though the loop may be held up and cannot close it. Any thread. */
    void cutOff() {
        try {
            stream.shutdownOutput();
            stream.shutdownInput();
        } catch (IOException | IllegalStateException e) {
            // It is closed or broken, so the peer knows; or it is being connected, and there is no peer yet.
        }
    }

    /**
     * All is sent. If the peer has sent what was not read, closing now would reset the connection, and the peer's system would throw away what the peer has not read of it. So
     * the peer is told that no more comes, and what it still sends is read and forgotten, until it ends or for {@link #LINGER_NANOS}.
     */
    private void finishWhenRead(StreamTransport to) {
        if (lingering) {
            return;
        }
        boolean active = to.hasInput() || loop.now() - lastReceived < LINGER_NANOS;
        if (inputEnded || !active) {
            finish(null);
            return;
        }
        lingering = true;
        to.closeOutput();
        to.resume();
        cancel(idleAlarm);
        idleAlarm = schedule(LINGER_NANOS, fired -> {
            idleAlarm = null;
            if (fired) {
                finish(null);
            }
        });
    }

    /** Null in the loop's last turn, which takes no alarms any more: it ends this connection anyway. */
    @Nullable
    AlarmKey schedule(long nanos, AlarmCallback callback) {
        try {
            return loop.schedule(nanos, callback);
        } catch (RejectedExecutionException e) {
            return null;
        }
    }

    private void cancel(@Nullable AlarmKey alarm) {
        if (alarm != null) {
            loop.cancel(alarm);
        }
    }

    // ---- Timeouts: an alarm that looks how late it really is, so that activity costs a store ----

    private void watchIdle() {
        watchIdle(idleNanos);
    }

    private void watchIdle(long nanos) {
        idleAlarm = schedule(nanos, fired -> {
            idleAlarm = null;
            if (!fired || over || idleNanos == 0) {
                return;
            }
            long left = idleNanos - (loop.now() - lastActivity);
            if (left <= 0) {
                finish(new SocketTimeoutException("closed " + this + ": idle for " + idleNanos / 1_000_000 + " ms"));
            } else {
                watchIdle(left);
            }
        });
    }

    private void watchWrites() {
        if (settings.writeNanos > 0 && writeAlarm == null) {
            lastProgress = loop.now();
            watchWrites(settings.writeNanos);
        }
    }

    private void watchWrites(long nanos) {
        writeAlarm = schedule(nanos, fired -> {
            writeAlarm = null;
            if (!fired || over || queue.isEmpty()) {
                return;
            }
            long left = settings.writeNanos - (loop.now() - lastProgress);
            if (left <= 0) {
                finish(new SocketTimeoutException("closed " + this + ": the peer took nothing for "
                        + settings.writeNanos / 1_000_000 + " ms while " + queue.bytes() + " bytes wait"));
            } else {
                watchWrites(left);
            }
        });
    }

    @Override
    public void setIdleTimeout(Duration timeout) {
        long nanos = ServerSettings.nanos(timeout, "the idle timeout");
        onLoop(() -> {
            idleNanos = nanos;
            cancel(idleAlarm);
            idleAlarm = null;
            if (nanos > 0 && !over) {
                lastActivity = loop.now();
                watchIdle();
            }
        });
    }

    // ---- Looking at it ----

    long bytesReceived() {
        return (long) BYTES_IN.getOpaque(this);
    }

    long bytesSent() {
        return (long) BYTES_OUT.getOpaque(this);
    }

    TransportLoop loop() {
        return loop;
    }

    @Override
    public long id() {
        return id;
    }

    @Override
    public InetSocketAddress localAddress() {
        InetSocketAddress known = local;
        if (known == null) {
            throw new IllegalStateException("cannot tell the local address of " + this + ": it is not connected yet");
        }
        return known;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remote;
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
    public boolean equals(@Nullable Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return Objects.hash(id);
    }

    @Override
    public String toString() {
        return "connection " + id + " with " + remote;
    }
}
