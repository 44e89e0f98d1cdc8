package io.millrace.server;

import io.millrace.engine.AlarmCallback;
import io.millrace.engine.AlarmKey;
import io.millrace.engine.pool.ObjectPool;
import io.millrace.engine.pool.Pooled;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.engine.transport.StreamTransport;
import io.millrace.engine.transport.TransportHandler;
import io.millrace.net.TcpStream;
import io.millrace.poll.internal.Durations;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
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
 * The transport reads into the loop's buffer and calls {@link #received}; the handler's {@code onData} sees that buffer. What it sends meanwhile is copied into the loop's output,
 * and goes to the system in one call when it returns; a larger piece goes to the system at once, behind what was gathered. Only what the system refused waits in the {@link
 * WriteQueue}. What is sent elsewhere is copied, and goes out at the end of the loop's turn. A file has its place in the queue, and its bytes go from the system to the system.
 *
 * <h2>One class</h2>
 *
 * Sending, reading, timeouts and the end are one state machine: each decides by what the others have left, such as whether a close finds bytes that wait, or silence counts while nothing is read. Parts of it as objects would cost
 * each idle connection their headers and a reference both ways, and there are a hundred thousand of those. What has a state of its own is elsewhere, and exists only while it is needed: {@link WriteQueue}, {@link FileRegion}, {@link
 * SerialExecutor}, an alarm; what other threads count is in {@link SendGate}. What all connections of a loop share, such as the buffers, is the loop's.
 *
 * <h2>Ending</h2>
 *
 * <ol>
 *   <li>{@code ending}: close was called; nothing more is taken, and what waits goes out.
 *   <li>{@code lingering}, if the peer was sending: it is told the end, and read until it ends too, or for a second.
 *   <li>{@code over}: the transport is closed, the owner has forgotten the id, and {@code onDisconnect} is the last call.
 * </ol>
 */
final class StreamConnection extends SendGate implements Connection, TransportHandler, Runnable {
    /** Who has connections. */
    interface Keeper {
        /**
         * One is over, and its handler has not been told yet. True for the first caller, which must then call {@link #onEnded}.
         *
         * @param unsent how many bytes it had left, which are lost
         */
        boolean tryRemove(StreamConnection connection, long unsent);

        /** The last call of a connection's handler has returned. */
        void onEnded(StreamConnection connection);

        /** So many bytes more wait for it, or fewer. Any thread. */
        void bytesWait(StreamConnection connection, long change);

        /** So many files more wait for it, or fewer. Any thread. */
        void filesWait(StreamConnection connection, int change);

        /**
         * It is to be over when its loop comes to it, and what it holds will be free then. Any thread.
         *
         * @return to be run when it is over
         */
        Runnable willRelease(StreamConnection connection);
    }

    /** A handler of a connection that is being made. */
    interface Attempt {
        /** There will be no connection: for this reason, or because it was closed before it was there. */
        void failed(@Nullable IOException cause);
    }

    /** Up to here a piece is copied into the loop's output: less than a system call costs. */
    private static final int GATHERED = 4096;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** What one callback may write while it runs. What it sends beyond that waits, until the others have had their turn. */
    private static final int WRITE_SHARE = 1 << 20;

    /** How long a peer that goes on sending is listened to after the last byte was sent to it. */
    private static final long LINGER_NANOS = 1_000_000_000;

    private static final VarHandle BYTES_IN;
    private static final VarHandle BYTES_OUT;
    private static final VarHandle QUEUE;
    private static final VarHandle DOOMED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            BYTES_IN = lookup.findVarHandle(StreamConnection.class, "bytesIn", long.class);
            BYTES_OUT = lookup.findVarHandle(StreamConnection.class, "bytesOut", long.class);
            QUEUE = lookup.findVarHandle(StreamConnection.class, "queue", WriteQueue.class);
            DOOMED = lookup.findVarHandle(StreamConnection.class, "doomed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final long id;
    private final ServerLoop loop;
    private final TcpStream stream;
    private final ConnectionHandler handler;
    private final ServerSettings settings;
    private final Keeper keeper;
    /** Where its callbacks run; null if that is the loop, which has them in order anyway. */
    private final @Nullable SerialExecutor callbacks;

    private final ObjectPool<ByteBuffer> buffers;
    /** Made when something has to wait for the first time, which in most connections nothing ever does. */
    private volatile WriteQueue queue = WriteQueue.NOTHING;

    private final InetSocketAddress remote;

    private volatile @Nullable Object attachment;
    /** Of callbacks: what a {@link FrameDecoder} knows of this connection. */
    FrameDecoder.@Nullable Partial partialFrame;

    /** Of callbacks: {@code onConnect} threw, so nothing but its end is told. */
    private boolean refused;
    /** It ends for a reason that was found, as soon as its loop comes to it. */
    private volatile boolean doomed;
    /** Its peer was told the end from outside; what the loop finds afterwards is no news. */
    private volatile boolean cutOff;
    /** Somebody was told that too much waits, and must be told when it does not. */
    private volatile boolean owesWritable;

    // ---- The loop's ----
    private @Nullable StreamTransport transport;
    /** It stands; until then what is sent waits. */
    private boolean connected;
    /** How many bytes of the loop's output are ours: sent during the present callback. If there are any, the queue is empty. */
    private int gathered;
    /** How many bytes the present callback has written. */
    private int written;

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
    /** It is over as soon as the loop comes to it. */
    private boolean finishing;

    /** All is sent, and the loop will close it soon, or linger. */
    private boolean leaving;

    private boolean lingering;
    /** The loop is in its last turn: what is left for later is not of use any more. */
    private boolean lastTurn;

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
    /** What waits until it is read again. */
    private @Nullable Runnable atResume;

    StreamConnection(
            long id,
            ServerLoop loop,
            TcpStream stream,
            ConnectionHandler handler,
            ServerSettings settings,
            CallbackExecutor callbacks,
            Keeper keeper) {
        this.id = id;
        this.loop = loop;
        this.stream = stream;
        this.handler = handler;
        this.settings = settings;
        this.keeper = keeper;
        this.callbacks = callbacks.serial(id);
        this.buffers = callbacks.buffers();
        this.remote = stream.remoteAddress();
        this.idleNanos = settings.idleNanos;
    }

    /** On the loop: the handler is told, and from then on of all that comes. */
    void open() {
        lastActivity = loop.now();
        lastReceived = lastActivity - LINGER_NANOS;
        if (isEnding()) {
            finish(null); // closed before its loop came to it
            return;
        }
        try {
            transport = loop.attach(stream, this, settings.bufferSize(isOnLoop() && loop.sharesBuffer()));
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
        connected = true;
        if (idleNanos > 0) {
            watchIdle();
        }
        announced = true;
        call(this::tellConnect);
        flushUnlessCalled();
    }

    // ---- Calls of the handler ----

    /** A call that may throw. */
    interface Call {
        void run() throws Exception;
    }

    /** On the loop: calls the handler, here or elsewhere. */
    void call(Call what) {
        SerialExecutor elsewhere = callbacks;
        if (elsewhere == null) {
            callHere(what);
        } else {
            elsewhere.execute(() -> callSafely(what));
        }
    }

    private boolean isOnLoop() {
        return callbacks == null;
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

    /** What was sent goes out, and what was asked for meanwhile is done. */
    private void afterCallback() {
        written = 0;
        if (aborting) {
            finishSoon(null);
        } else {
            flush();
        }
    }

    /** Whatever the user's code throws ends here. */
    private void callSafely(Call what) {
        try {
            what.run();
        } catch (Throwable e) {
            tellThrown(e);
        }
    }

    /** From a callback: what it threw. */
    void tellThrown(Throwable thrown) {
        if (thrown instanceof InterruptedException && !isOnLoop()) {
            Thread.currentThread().interrupt(); // a loop's thread is nobody's to interrupt
        }
        ConnectionLog.tellThrown(handler, this, thrown);
    }

    /** From a callback: what went wrong otherwise. */
    void tellError(Throwable failure) {
        ConnectionLog.tell(handler, this, failure);
    }

    /** Who throws here does not want it. */
    private void tellConnect() {
        try {
            handler.onConnect(this);
        } catch (Throwable e) {
            refused = true;
            tellThrown(e);
            close();
        }
    }

    // ---- What the transport tells ----

    /** A field of each of its three lines of the cache. */
    @Override
    public int prefetch() {
        return (int) bytesIn + gathered + (transport == null ? 0 : 1);
    }

    @Override
    public void received(ByteBuffer data) {
        if (lingering || doomed || refused) {
            return;
        }
        if (leaving) {
            lastReceived = loop.now();
            return;
        }
        lastActivity = loop.now();
        lastReceived = lastActivity;
        BYTES_IN.setOpaque(this, bytesIn + data.remaining());
        SerialExecutor elsewhere = callbacks;
        if (elsewhere == null) {
            deliverHere(data);
        } else {
            Pooled<ByteBuffer> copy = buffers.acquire();
            int size = data.remaining();
            copy.get().clear().put(data).flip();
            backlog += size;
            pauseOrResume();
            elsewhere.execute(() -> {
                try (copy) {
                    if (!refused) {
                        callSafely(() -> handler.onData(this, copy.get()));
                    }
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
            tellThrown(e);
        }
        inCallback = false;
        if (gathered > 0 || written > 0 || !queue.isEmpty() || refuses()) {
            afterCallback();
        }
    }

    @Override
    public void endOfInput() {
        inputEnded = true;
        if (lingering) {
            finishSoon(null);
            return;
        }
        if (leaving) {
            return; // as if it had been closed already
        }
        call(() -> {
            if (!refused) {
                handler.onEndOfInput(this);
            }
        });
        endIfBothEnded();
    }

    /** Nothing can come or go any more, so it is over. Not in a callback, after which this is looked at again. */
    private void endIfBothEnded() {
        if (inputEnded && outputEnded && !inCallback) {
            finish(null);
        }
    }

    @Override
    public void writable() {
        flush();
    }

    @Override
    public void failed(IOException cause) {
        if (!over) {
            finish(lingering || leaving ? null : cause);
        }
    }

    // ---- Sending ----

    @Override
    public SendResult send(ByteBuffer data) {
        return sendsHere() ? sendHere(data, false) : handOver(data);
    }

    /**
     * Whether what the calling thread sends need not be handed over to the loop. What another thread has handed over goes first: its send may have returned before this one was called, and whoever
     * orders the two by a lock wants them in that order.
     */
    boolean sendsHere() {
        return loop.inLoop() && (isOnLoop() || inCallback) && isQuiet();
    }

    /**
     * Where {@link #sendsHere}: the hot path. The output is ours if as much is in it as we have put there: nobody else's callback runs inside of ours but the last of a connection that ends, which
     * has nothing to send; and if one did it would find the output taken.
     *
     * @param owned whether the bytes never change
     */
    SendResult sendHere(ByteBuffer data, boolean owned) {
        if (refuses()) {
            return SendResult.CLOSED;
        }
        int size = data.remaining();
        if (size <= GATHERED && inCallback && queue.isEmpty()) {
            ByteBuffer output = loop.output();
            if (output.position() == gathered && output.remaining() >= size) {
                output.put(data);
                gathered += size;
                return result(gathered);
            }
        }
        return size == 0 ? result(queuedBytes()) : sendPiece(data, owned);
    }

    /** One that is large, or behind what waits, or from outside of our callbacks. */
    private SendResult sendPiece(ByteBuffer data, boolean owned) {
        if (heldBytes() > settings.limit) {
            endAtLimit();
            return SendResult.CLOSED;
        }
        StreamTransport to = transport;
        if (inCallback && to != null && written < WRITE_SHARE && queue.isEmpty()) {
            ByteBuffer output = loop.output();
            if (output.position() == gathered && !write(output, data, to)) {
                return SendResult.CLOSED;
            }
        }
        if (data.hasRemaining()) {
            spill();
            hold(data.remaining());
            enqueue(owned ? data.duplicate() : data, owned);
            data.position(data.limit());
        }
        if (!inCallback) {
            flushLater();
        }
        return result(queuedBytes());
    }

    /** To the system, what was gathered and this behind it, as much as it takes now. False if the connection is broken; then it ends, after the callback. */
    private boolean write(ByteBuffer output, ByteBuffer data, StreamTransport to) {
        int from = data.position();
        try {
            writeBoth(output.flip(), data, to);
            return true;
        } catch (IOException e) {
            data.position(from);
            end(e);
            return false;
        } finally {
            gathered = output.compact().position();
        }
    }

    private void writeBoth(ByteBuffer output, ByteBuffer data, StreamTransport to) throws IOException {
        long before = (long) output.remaining() + data.remaining();
        try {
            if (!output.hasRemaining()) {
                to.send(data);
            } else if (!data.hasRemaining()) {
                to.send(output);
            } else {
                to.send(new ByteBuffer[] {output, data}, 0, 2);
            }
        } finally {
            long gone = before - output.remaining() - data.remaining();
            written += (int) Math.min(gone, WRITE_SHARE);
            sent(gone);
        }
    }

    private void sent(long bytes) {
        if (bytes > 0) {
            lastActivity = loop.now();
            BYTES_OUT.setOpaque(this, bytesOut + bytes);
        }
    }

    /** What was gathered goes into the queue: something is to go behind it that does not go out at once. */
    private void spill() {
        if (gathered > 0) {
            ByteBuffer output = loop.output().flip();
            hold(gathered);
            enqueue(output, false);
            output.clear();
            gathered = 0;
        }
    }

    /** Into the queue, of bytes that are counted already. */
    private void enqueue(ByteBuffer data, boolean owned) {
        beginsToWait();
        if (owned) {
            queue().addOwned(data);
        } else {
            queue().addCopy(data);
        }
    }

    /** The time that the peer has to take it counts from here on. */
    private void beginsToWait() {
        if (queue.isEmpty()) {
            lastProgress = loop.nanoTime();
        }
    }

    private void endAtLimit() {
        end(new LimitException("closed " + this + ": " + heldBytes() + " bytes wait to be sent, more than the limit of "
                + settings.limit + "; the peer does not read, so send less or raise the limit"));
    }

    /** Any thread: whether a send of so many bytes is admitted. If so, it must {@link #arrive} on the loop, or be withdrawn. */
    boolean admits(int bytes) {
        Admission admission = announce(bytes, settings.limit);
        if (admission == Admission.FULL) {
            endAtLimit();
        }
        return admission == Admission.TAKEN;
    }

    private SendResult handOver(ByteBuffer data) {
        int size = data.remaining();
        if (!admits(size)) {
            return SendResult.CLOSED;
        }
        boolean handedOver = false;
        try {
            ByteBuffer copy = WriteQueue.copy(data);
            // Before it is handed over: so the flush that sends it knows what was promised.
            SendResult result = result(queuedBytes());
            loop.execute(() -> arrive(copy));
            handedOver = true;
            data.position(data.limit());
            return result;
        } catch (RejectedExecutionException e) {
            return SendResult.CLOSED;
        } finally {
            if (!handedOver) {
                withdraw(size);
            }
        }
    }

    /** On the loop: bytes that were announced, and that nobody changes any more. */
    void arrive(ByteBuffer data) {
        arrived();
        if (over) {
            release(data.remaining());
            return;
        }
        spill();
        enqueue(data, true);
        flushLater();
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

    /** A file is announced before it is opened. A small one is sent as bytes. */
    private SendResult openAndSend(Path file, long position, long count) throws IOException {
        boolean here = sendsHere();
        if (!admits(0)) {
            return SendResult.CLOSED;
        }
        FileRegion region = null;
        ByteBuffer small = null;
        SendResult result = SendResult.CLOSED;
        boolean handedOn = false;
        try {
            FileRegion opened = FileRegion.open(loop.net(), file, position, count);
            region = opened;
            if (opened.left() <= FileRegion.SMALL) {
                small = opened.read();
            } else {
                opened.waitsFor(queue(), this);
                result = result(queuedBytes());
                if (here) {
                    handedOn = true;
                    arrive(opened);
                } else {
                    loop.execute(() -> arrive(opened));
                    handedOn = true;
                }
            }
        } catch (RejectedExecutionException e) {
            result = SendResult.CLOSED;
        } finally {
            if (!handedOn) {
                withdraw(0);
                if (region != null) {
                    region.close();
                }
            }
        }
        return small == null ? result : send(small);
    }

    /** On the loop: a file that was announced. */
    private void arrive(FileRegion region) {
        arrived();
        StreamTransport to = transport;
        boolean broken = gathered > 0 && to != null && !write(loop.output(), NOTHING, to);
        if (broken || over) {
            region.close();
            return;
        }
        spill();
        beginsToWait();
        queue().addFile(region);
        if (!inCallback) {
            flushLater();
        }
    }

    /** The queue, to put something in. Any thread may be the first. */
    @SuppressWarnings("ReferenceEquality") // identity is what is meant
    private WriteQueue queue() {
        if (queue == WriteQueue.NOTHING) {
            QUEUE.compareAndSet(this, WriteQueue.NOTHING, new WriteQueue());
        }
        return queue;
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
        if (over || finishing || to == null || (!connected && !queue.isEmpty())) {
            return; // What waits for a connection that is being made goes out when it is there.
        }
        boolean empty;
        try {
            empty = gathered > 0 ? flushOutput(to) : queue.isEmpty() || flushQueue(to);
        } catch (IOException e) {
            if (lastTurn) {
                finish(e);
            } else {
                finishSoon(e);
            }
            return;
        }
        afterFlush(to, empty);
    }

    /** The usual case, without an object. */
    private boolean flushOutput(StreamTransport to) throws IOException {
        ByteBuffer output = loop.output().flip();
        boolean all = to.send(output);
        sent(output.position());
        if (all) {
            output.clear();
            gathered = 0;
        } else {
            gathered = output.compact().position();
            spill();
        }
        return all;
    }

    private boolean flushQueue(StreamTransport to) throws IOException {
        WriteQueue present = queue;
        long held = present.bytes();
        long before = present.sent();
        try {
            return present.flush(to);
        } finally {
            release(held - present.bytes());
            long gone = present.sent() - before;
            if (gone > 0) {
                sent(gone);
                lastProgress = loop.nanoTime();
            }
        }
    }

    private void afterFlush(StreamTransport to, boolean empty) {
        // Nothing more is announced: see SendGate. If something is, this is looked at again when it has arrived.
        if (empty && refuses() && isQuiet()) {
            if (closeWhenSent) {
                finishWhenRead(to);
                return;
            }
            if (isOutputEnding() && !outputEnded) {
                outputEnded = true;
                to.closeOutput();
                endIfBothEnded();
                if (over) {
                    return;
                }
            }
        }
        if (!empty) {
            watchWrites();
        }
        long bytes = queue.bytes() + queue.fileBytes();
        if (bytes > settings.highWater) {
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
        if (!isEnding()) {
            call(() -> {
                if (!refused) {
                    handler.onWritable(this);
                }
            });
        }
    }

    @Override
    public long queuedBytes() {
        return waitingBytes() + queue.fileBytes();
    }

    // ---- Reading or not ----

    private void pauseOrResume() {
        pausedByBacklog = backlog > 4L * settings.bufferSize(false);
        StreamTransport to = transport;
        if (to == null || lingering) {
            return;
        }
        if (isPaused()) {
            to.pause();
        } else {
            to.resume();
            Runnable waits = atResume;
            if (waits != null) {
                atResume = null;
                waits.run();
            }
        }
    }

    /** On the loop: whether what has arrived is left unread. */
    boolean isPaused() {
        return pausedByUser || pausedByBacklog || aboveHigh;
    }

    /** On the loop, while it is paused: has something run when it is not any more. One at a time. */
    void atResume(Runnable what) {
        atResume = what;
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
        endOutput();
        betweenCallbacks(this::flushUnlessCalled);
    }

    /**
     * On the loop, and never in the middle of another connection's callback: an end is told to a handler, which must not be called while a handler is in the middle of something. In this connection's own callback it only
     * leaves a note, which is looked at when that returns.
     */
    private void betweenCallbacks(Runnable what) {
        if (loop.inLoop() && !inCallback) {
            loop.atEndOfTurn(what);
        } else {
            onLoop(what);
        }
    }

    /** After a callback it is done anyway. */
    private void flushUnlessCalled() {
        if (!inCallback) {
            flush();
        }
    }

    @Override
    public void close() {
        if (!isEnding()) {
            end();
            betweenCallbacks(this::closeHere);
        }
    }

    /** On the loop, after {@link #end()}: closes it, when all is sent. */
    void closeHere() {
        closeWhenSent = true;
        flushUnlessCalled();
    }

    @Override
    public void abort() {
        end();
        betweenCallbacks(() -> {
            aborting = true;
            if (!inCallback) {
                finishSoon(null);
            }
        });
    }

    @Override
    public boolean isClosed() {
        return isEnding();
    }

    /**
     * Any thread: nothing more is sent, and it is over for this reason when its loop comes to it. Never here and now: whoever calls may be in the middle of something with this
     * connection, or with a collection that it is in. Only the first reason counts.
     */
    void end(IOException why) {
        end();
        // Before it is told apart: else there is a moment in which others could be ended for what this one holds.
        Runnable released = keeper.willRelease(this);
        if (!DOOMED.compareAndSet(this, false, true)) {
            released.run();
            return;
        }
        Runnable last = () -> {
            finish(why);
            released.run();
        };
        if (loop.inLoop()) {
            loop.soon(last);
        } else {
            try {
                loop.execute(last);
            } catch (RejectedExecutionException e) {
                released.run();
            }
        }
    }

    /** Whether {@link #end(IOException)} was called. */
    boolean isDoomed() {
        return doomed;
    }

    @Override
    void lookAgain() {
        try {
            loop.execute(this::flushUnlessCalled);
        } catch (RejectedExecutionException e) {
            // The loop has ended, and the connection with it.
        }
    }

    @Override
    void charge(long bytes) {
        keeper.bytesWait(this, bytes);
    }

    void chargeFiles(int change) {
        keeper.filesWait(this, change);
    }

    int waitingFiles() {
        return queue.files();
    }

    /** On the loop: nothing more is sent or received, and it is over when the loop comes to it. To end is costly, and many may end at once. */
    private void finishSoon(@Nullable IOException cause) {
        end();
        doomed = true;
        if (!finishing) {
            finishing = true;
            giveUpOutput();
            loop.soon(() -> finish(cause));
        }
    }

    /** The loop's output is the next one's, whatever we have put there. */
    private void giveUpOutput() {
        if (gathered > 0) {
            loop.output().clear();
            gathered = 0;
        }
    }

    /** On the loop: it is over, for this reason if there is one. */
    private void finish(@Nullable IOException cause) {
        if (over) {
            return;
        }
        over = true;
        end();
        long unsent = queuedBytes() + gathered;
        StreamTransport to = transport;
        if (to != null) {
            to.close();
        } else {
            stream.close();
        }
        giveUpOutput();
        if (!queue.isEmpty()) {
            long held = queue.bytes();
            queue.clear();
            release(held);
        }
        cancel(idleAlarm);
        cancel(writeAlarm);
        idleAlarm = null;
        writeAlarm = null;
        boolean last = keeper.tryRemove(this, unsent);
        if (cause != null && announced && !cutOff) {
            call(() -> tellError(cause));
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
                    keeper.onEnded(this);
                }
            }
        });
    }

    /** The loop is in its last turn: what the system takes now goes out, and then it is over. */
    @Override
    public void loopEnds() {
        if (over || finishing) {
            return; // what was left for the end of this turn is run
        }
        lastTurn = true;
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
        cutOff = true;
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
        if (lastTurn) {
            finishOrLinger(to);
        } else if (!leaving) {
            leaving = true;
            loop.soon(() -> finishOrLinger(to));
        }
    }

    private void finishOrLinger(StreamTransport to) {
        if (over || finishing || lingering) {
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
                finishSoon(null);
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

    // ---- Timeouts: an alarm that looks how late it really is, so that activity costs a store; and that waits again if
    // it is not, so that no time it looks costs an object ----

    private void watchIdle() {
        idleAlarm = schedule(idleNanos, this::idleFor);
    }

    private void idleFor(boolean fired) {
        AlarmKey present = idleAlarm;
        idleAlarm = null;
        if (!fired || over || doomed || idleNanos == 0) {
            return;
        }
        long left = idleNanos - (loop.now() - lastActivity);
        if (left <= 0) {
            // The process may have been stopped: then there is something to read, of which the loop was not told.
            long before = bytesIn;
            readArrived();
            if (over || idleNanos == 0 || idleAlarm != null) {
                return; // it has ended, or its handler has set another time
            }
            left = bytesIn == before && !hasUnreadInput() ? left : idleNanos;
        }
        if (left <= 0) {
            finishSoon(new SocketTimeoutException("closed " + this + ": idle for " + idleNanos / 1_000_000 + " ms"));
        } else if (present != null && loop.again(present, left)) {
            idleAlarm = present;
        } else {
            idleAlarm = schedule(left, this::idleFor);
        }
    }

    /**
     * Whether the peer has sent what we do not read: then the silence is ours. One that does not take what it is sent is not read for that reason, and may count as silent.
     */
    private boolean hasUnreadInput() {
        StreamTransport to = transport;
        return to != null && to.hasInput() && isPaused() && !aboveHigh;
    }

    /** On the loop: reads what has arrived, though the loop was not told of it. True if there is more. */
    boolean readArrived() {
        StreamTransport to = transport;
        if (over || to == null) {
            return false;
        }
        to.readNow();
        return !over && to.hasInput();
    }

    private void watchWrites() {
        if (settings.writeNanos > 0 && writeAlarm == null) {
            writeAlarm = schedule(settings.writeNanos, this::unsentFor);
        }
    }

    private void unsentFor(boolean fired) {
        AlarmKey present = writeAlarm;
        writeAlarm = null;
        if (!fired || over || doomed || queue.isEmpty()) {
            return;
        }
        long left = settings.writeNanos - (loop.nanoTime() - lastProgress);
        if (left <= 0) {
            finishSoon(new SocketTimeoutException("closed " + this + ": the peer took nothing for "
                    + settings.writeNanos / 1_000_000 + " ms while " + queuedBytes() + " bytes wait"));
        } else if (present != null && loop.again(present, left)) {
            writeAlarm = present;
        } else {
            writeAlarm = schedule(left, this::unsentFor);
        }
    }

    @Override
    public void setIdleTimeout(Duration timeout) {
        long nanos = Durations.limitNanos(timeout, "the idle timeout");
        onLoop(() -> {
            long before = idleNanos;
            idleNanos = nanos;
            if (lingering) {
                return; // the alarm is that of its end
            }
            lastActivity = loop.now();
            if (idleAlarm != null && nanos >= before) {
                return; // it comes too early, and finds out then
            }
            cancel(idleAlarm);
            idleAlarm = null;
            if (nanos > 0 && !over) {
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

    ServerLoop loop() {
        return loop;
    }

    @Override
    public long id() {
        return id;
    }

    @Override
    public InetSocketAddress localAddress() {
        try {
            return stream.localAddress();
        } catch (ClosedChannelException e) {
            throw new IllegalStateException(
                    "cannot tell the local address of " + this
                            + ": it is closed, and nobody had asked before; ask in onConnect",
                    e);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot tell the local address of " + this, e);
        }
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
