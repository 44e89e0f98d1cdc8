package io.millrace.server.connection;

import io.millrace.engine.transport.ServerLoop;
import io.millrace.engine.transport.StreamTransport;
import io.millrace.net.FileSource;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.SendResult;
import io.millrace.server.WriteCallback;
import io.millrace.server.support.LimitAccess;
import io.millrace.server.support.ServerSettings;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The layer of a {@link StreamConnection} that sends: gathering, the {@link WriteQueue}, flushing, water marks, and
 * who is told when bytes are written. It is apart because it needs to know little of the rest: it tells the layer above
 * that everything is sent, that the output has become full or is no longer, and that the connection is broken, and
 * leaves it to that layer what follows. How far a connection has come in its life is stored here, because sending asks
 * for it, and is written above.
 *
 * <h2>Where bytes are</h2>
 *
 * What a callback sends is gathered in the loop's output buffer, which all connections of the loop use in turn, and is
 * ours only until the callback returns. If there are gathered bytes, the queue is empty. What waits longer is in the
 * queue, and counted in {@link SendGate}.
 */
abstract sealed class ConnectionOutput extends ConnectionCalls implements Runnable permits StreamConnection {
    /** Pieces up to this size are copied into the loop's output, which costs less than a system call. */
    private static final int GATHERED = 4096;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /**
     * How much one callback may write directly while it runs. Anything beyond that waits until the other connections
     * have had their turn.
     */
    private static final int WRITE_SHARE = 1 << 20;

    private static final VarHandle BYTES_OUT;
    private static final VarHandle QUEUE;
    private static final VarHandle OWES_WRITABLE;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            BYTES_OUT = lookup.findVarHandle(ConnectionOutput.class, "bytesOut", long.class);
            QUEUE = lookup.findVarHandle(ConnectionOutput.class, "queue", WriteQueue.class);
            OWES_WRITABLE = lookup.findVarHandle(ConnectionOutput.class, "owesWritable", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final ServerSettings settings;
    /** Created when something first has to wait, which never happens on most connections. */
    private volatile WriteQueue queue = WriteQueue.NOTHING;
    /** Whether bytes were lost that were sent, so that its end must be a reset: see decision 29. */
    volatile boolean lost;
    /** A send returned ABOVE_HIGH_WATER, so {@code onWritable} has to be called. */
    private volatile boolean owesWritable;
    /**
     * Frames have arrived that are not delivered, because the connection is full or paused. Written in callbacks, by the
     * layer above, which must know when the output has gone below the low-water mark.
     */
    volatile boolean framesHeld;

    // ---- Used on the loop only; written by the layer above ----
    @Nullable
    StreamTransport transport;
    /** Whether the connection is established; until then, output waits. */
    boolean connected;
    /** Whether it will be over when its loop gets to it. */
    boolean finishing;

    boolean over;

    // ---- Used on the loop only ----
    /** How many bytes of the loop's output the current callback has put there. If there are any, the queue is empty. */
    int gathered;
    /** How many bytes the current callback has written directly. */
    int written;

    /** How many bytes were gathered and are lost. */
    private int abandoned;

    private long bytesOut;
    /** When bytes were last sent; at first, when it was opened. */
    long lastOut;

    private boolean flushing;
    /** Whether it was full when last flushed, and has not gone below the low-water mark since. */
    boolean aboveHigh;
    /** Callbacks of writes whose bytes are not yet sent; null if there are none. */
    private @Nullable PendingWrites writing;
    /** The write timeout; null if there is none, or nothing has had to wait yet. */
    private @Nullable WriteWatch writeWatch;

    ConnectionOutput(
            ServerLoop loop, ConnectionHandler handler, @Nullable SerialExecutor callbacks, ServerSettings settings) {
        super(loop, handler, callbacks);
        this.settings = settings;
    }

    // ---- What the layer above implements ----

    /** Ends the connection for a reason as soon as its loop gets to it, never within this call. Any thread. */
    abstract void end(IOException why);

    /** Returns whether {@link #end(IOException)} was called. */
    abstract boolean isDoomed();

    /** Nothing can be sent any more, and this is why. On the loop, outside callbacks. */
    abstract void onBroken(IOException cause);

    /**
     * Everything is sent, and no more sends are taken. Called on the loop after each flush for which this is true.
     *
     * @return whether the connection is about to end
     */
    abstract boolean onAllSent(StreamTransport to);

    /** {@link #aboveHigh} may have changed, or what was sent is gone. On the loop. */
    abstract void pauseOrResume();

    /** Reports a change of the number of waiting files. Any thread. */
    abstract void chargeFiles(int change);

    // ---- Sending ----

    @Override
    public final SendResult send(ByteBuffer data) {
        return sendsHere() ? sendHere(data, false) : handOver(data, null, settings.limit);
    }

    @Override
    public final SendResult send(ByteBuffer data, WriteCallback onWritten) {
        Errands.Written then = new Errands.Written(Objects.requireNonNull(onWritten, "onWritten"));
        if (!sendsHere()) {
            return handOver(data, then, settings.limit);
        }
        SendResult result = sendHere(data, false);
        if (result != SendResult.CLOSED) {
            callWhenWritten(then);
        }
        return result;
    }

    /**
     * Returns whether the calling thread may send directly instead of handing the bytes over to the loop. It may not
     * while a send of another thread is on its way: that send may have returned before this one was called, and must
     * stay ahead of it.
     */
    public final boolean sendsHere() {
        return loop.inLoop() && (isOnLoop() || inCallback) && isQuiet();
    }

    /**
     * Sends where {@link #sendsHere} is true: the hot path. The loop's output is ours if it holds exactly as many bytes
     * as we have put there. Only the last callback of another connection can run within ours; it has nothing to send,
     * and if it did, it would find the output in use.
     *
     * @param owned whether the bytes never change
     */
    public final SendResult sendHere(ByteBuffer data, boolean owned) {
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

    /**
     * Gathers a small piece for a virtual thread that this connection's loop carries, which must then have {@link
     * #flushGathered} called. Nothing here waits or calls out, so the thread cannot leave the loop's thread meanwhile.
     *
     * @return null if the piece has to be sent by the loop itself
     */
    public final @Nullable SendResult tryGather(ByteBuffer data) {
        int size = data.remaining();
        if (size > GATHERED || !connected || over || finishing || refuses() || !isQuiet() || !queue.isEmpty()) {
            return null;
        }
        ByteBuffer output = loop.output();
        if (output.position() != gathered || output.remaining() < size) {
            return null;
        }
        output.put(data);
        gathered += size;
        return result(gathered);
    }

    /** Flushes what {@link #tryGather} has gathered, now or when the callback returns. On the loop. */
    public final void flushGathered() {
        flushUnlessCalled();
    }

    /** Sends a piece that is large, follows waiting output, or is sent outside our callbacks. */
    private SendResult sendPiece(ByteBuffer data, boolean owned) {
        if (heldBytes() > settings.limit) {
            endAtLimit();
            return SendResult.CLOSED;
        }
        return sendAdmitted(data, owned);
    }

    private SendResult sendAdmitted(ByteBuffer data, boolean owned) {
        StreamTransport to = transport;
        if (inCallback && to != null && written < WRITE_SHARE && queue.isEmpty()) {
            ByteBuffer output = loop.output();
            if (output.position() == gathered && !write(output, data, to)) {
                return SendResult.CLOSED;
            }
        }
        if (data.hasRemaining()) {
            spill();
            int left = data.remaining();
            enqueue(owned ? data.duplicate() : data, owned);
            data.position(data.limit());
            hold(left);
        }
        if (!inCallback) {
            flushLater();
        }
        return result(queuedBytes());
    }

    /**
     * Writes what was gathered, followed by {@code data}, as far as the system takes it. Returns false if the
     * connection is broken; it then ends after the callback.
     */
    private boolean write(ByteBuffer output, ByteBuffer data, StreamTransport to) {
        int from = data.position();
        try {
            writeBoth(output.flip(), data, to);
            return true;
        } catch (IOException e) {
            data.position(from);
            lost = true; // some of the piece may be on its way
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
            countSent(gone);
        }
    }

    private void countSent(long bytes) {
        if (bytes > 0) {
            lastOut = loop.now();
            BYTES_OUT.setOpaque(this, bytesOut + bytes);
            PendingWrites waiting = writing;
            if (waiting != null) {
                waiting.tellSoon();
            }
        }
    }

    /** Moves what was gathered into the queue, because something has to follow it that does not go out at once. */
    private void spill() {
        if (gathered > 0) {
            int size = gathered;
            ByteBuffer output = loop.output().flip();
            try {
                enqueue(output, false);
            } finally {
                output.limit(output.capacity()).position(size); // restored, if there is no memory
            }
            giveUpOutput();
            hold(size);
        }
    }

    /**
     * Queues bytes. If they were not announced, they are counted once they are queued, because there may be no memory
     * for them.
     */
    private void enqueue(ByteBuffer data, boolean owned) {
        startWriteClock();
        if (owned) {
            queue().addOwned(data);
        } else {
            queue().addCopy(data);
        }
    }

    /** Starts the time that the peer has to take the output, if nothing was waiting before. */
    private void startWriteClock() {
        if (settings.writeNanos > 0 && queue.isEmpty()) {
            WriteWatch watch = writeWatch;
            if (watch == null) {
                watch = new WriteWatch(this, settings.writeNanos);
                writeWatch = watch;
            }
            watch.restart();
        }
    }

    private void endAtLimit() {
        end(LimitAccess.closed("closed " + this + ": " + heldBytes() + " bytes wait to be sent, more than the limit of "
                + settings.limit + "; the peer does not read, so send less or raise the limit"));
    }

    /**
     * Sends bytes of the other side, which pauses when this connection is full; so the limit does not apply. On this
     * connection's loop, the system is given the buffer that the bytes were read into, and only the rest is copied.
     */
    final SendResult forward(ByteBuffer data) {
        if (!sendsHere()) {
            return handOver(data, null, MOST_BYTES);
        }
        if (refuses() || !data.hasRemaining()) {
            return refuses() ? SendResult.CLOSED : result(queuedBytes());
        }
        boolean outer = inCallback;
        inCallback = true;
        SendResult result = sendAdmitted(data, false);
        inCallback = outer;
        if (!outer) {
            if (queue.isEmpty()) {
                written = 0;
            } else {
                afterCallback();
            }
        }
        return result;
    }

    // ---- Sends of other threads ----

    /**
     * Returns whether a send of {@code bytes} is admitted. If so, it must {@link #arrive} on the loop or be withdrawn.
     * Any thread.
     */
    public final boolean admits(int bytes) {
        return admits(bytes, settings.limit);
    }

    private boolean admits(int bytes, long limit) {
        Admission admission = announce(bytes, limit);
        if (admission == Admission.FULL) {
            endAtLimit();
        }
        return admission == Admission.TAKEN;
    }

    private SendResult handOver(ByteBuffer data, Errands.@Nullable Written then, long limit) {
        int size = data.remaining();
        if (!admits(size, limit)) {
            return SendResult.CLOSED;
        }
        boolean handedOver = false;
        try {
            ByteBuffer copy = WriteQueue.copy(data);
            if (then != null && !errands().add(then)) {
                return SendResult.CLOSED;
            }
            // Computed before the hand-over, so that the flush that sends the bytes knows what was promised.
            SendResult result = result(queuedBytes());
            loop.execute(() -> {
                arrive(copy);
                if (then != null) {
                    callWhenWritten(then);
                }
            });
            handedOver = true;
            data.position(data.limit());
            return result;
        } catch (RejectedExecutionException e) {
            if (then == null || refuse(then)) {
                return SendResult.CLOSED;
            }
            data.position(data.limit()); // taken by the end of the connection, which reports that they are lost
            return SendResult.QUEUED;
        } finally {
            if (!handedOver) {
                withdraw(size);
            }
        }
    }

    /** Takes announced bytes, which no longer change. On the loop. */
    public final void arrive(ByteBuffer data) {
        countArrival();
        if (over) {
            release(data.remaining());
            return;
        }
        try {
            spill();
            enqueue(data, true);
        } catch (Throwable e) {
            // It was taken, so continuing without it would leave a gap that goes unnoticed.
            lost = true;
            release(data.remaining());
            end(new IOException(
                    "closed " + this + ": " + data.remaining() + " bytes that were to be sent are lost", e));
            return;
        }
        flushLater();
    }

    @Override
    final void lookAgain() {
        try {
            loop.execute(this::flushUnlessCalled);
        } catch (RejectedExecutionException e) {
            // The loop has ended, and the connection with it.
        }
    }

    // ---- Files ----

    @Override
    public final SendResult sendFile(Path file) throws IOException {
        return openAndSend(() -> FileRegion.open(loop.net(), file, 0, FileRegion.TO_END));
    }

    @Override
    public final SendResult sendFile(Path file, long position, long count) throws IOException {
        requireNotNegative(file, position, count);
        return openAndSend(() -> FileRegion.open(loop.net(), file, position, count));
    }

    @Override
    public final SendResult sendFile(FileSource file, long position, long count) throws IOException {
        FileRegion region = null;
        SendResult result = SendResult.CLOSED;
        try {
            requireNotNegative(file.path(), position, count);
            FileRegion taken = FileRegion.of(file, position, count);
            region = taken;
            result = openAndSend(() -> taken);
            return result;
        } finally {
            if (region == null) {
                file.close();
            } else if (result == SendResult.CLOSED) {
                region.close();
            }
        }
    }

    private static void requireNotNegative(Path file, long position, long count) {
        if (position < 0 || count < 0) {
            throw new IllegalArgumentException("cannot send " + count + " bytes of " + file + " from byte " + position
                    + " on: neither can be negative");
        }
    }

    private interface FileOpening {
        FileRegion open() throws IOException;
    }

    /** Announces a file, then opens it. A small one is sent as bytes. */
    private SendResult openAndSend(FileOpening file) throws IOException {
        boolean here = sendsHere();
        if (!admits(0)) {
            return SendResult.CLOSED;
        }
        FileRegion region = null;
        ByteBuffer small = null;
        SendResult result = SendResult.CLOSED;
        boolean handedOn = false;
        try {
            FileRegion opened = file.open();
            region = opened;
            if (opened.left() <= FileRegion.SMALL) {
                small = opened.read();
            } else {
                opened.waitIn(queue(), this);
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

    /** Takes an announced file. On the loop. */
    private void arrive(FileRegion region) {
        countArrival();
        StreamTransport to = transport;
        boolean broken = gathered > 0 && to != null && !write(loop.output(), NOTHING, to);
        if (broken || over) {
            region.close();
            return;
        }
        spill();
        startWriteClock();
        queue().addFile(region);
        if (!inCallback) {
            flushLater();
        }
    }

    public final int waitingFiles() {
        return queue.files();
    }

    // ---- Who waits until bytes are written ----

    @Override
    public final CompletableFuture<Void> written() {
        CompletableFuture<Void> all = new CompletableFuture<>();
        Errands.Written then = new Errands.Written((connection, failure) -> complete(all, failure));
        if (sendsHere()) {
            if (over) {
                complete(all, lost ? notWritten() : null);
            } else {
                callWhenWritten(then);
            }
        } else {
            boolean handedOver = errands().add(then);
            if (handedOver) {
                try {
                    loop.execute(() -> callWhenWritten(then));
                } catch (RejectedExecutionException e) {
                    handedOver = !refuse(then);
                }
            }
            if (!handedOver) {
                complete(all, lost ? notWritten() : null);
            }
        }
        return all;
    }

    private static void complete(CompletableFuture<Void> future, @Nullable IOException failure) {
        if (failure == null) {
            future.complete(null);
        } else {
            future.completeExceptionally(failure);
        }
    }

    /** Calls back when the system has taken everything that was sent so far. On the loop. */
    private void callWhenWritten(Errands.Written then) {
        if (over) {
            return; // taken by the end of the connection
        }
        then.position = lost ? Long.MAX_VALUE : bytesOut + gathered + queue.waiting();
        PendingWrites all = writing;
        if (all == null) {
            all = new PendingWrites(this);
            writing = all;
        }
        all.add(then);
    }

    /** Calls the callbacks of writes whose bytes are sent. On the loop, at the end of a turn. */
    final void tellWritten() {
        PendingWrites all = writing;
        if (all != null && all.tell()) {
            writing = null;
        }
    }

    /**
     * Makes all promised calls before the last callback. What waited for bytes is called first. The rest is looked for
     * in a callback: only there has everything run that was handed over before, so the rest cannot overtake it. On the
     * loop, when it is over.
     */
    final void keepPromises(@Nullable IOException cause) {
        PendingWrites mine = writing;
        if (mine != null) {
            writing = null;
            mine.endAll(notWritten(cause));
        }
        if (hasErrands()) {
            call(() -> keepRest(cause));
        }
    }

    /** Runs what has not got to the loop, or not to the connection's thread. In a callback, when it is over. */
    private void keepRest(@Nullable IOException cause) {
        List<Errands.Errand> left = closeErrands();
        IOException ended = lost && !left.isEmpty() ? notWritten(cause) : null;
        for (Errands.Errand errand : left) {
            callSafely(() -> errand.run(this, ended));
        }
    }

    private IOException notWritten(@Nullable IOException cause) {
        IOException ended = notWritten();
        if (cause != null) {
            ended.initCause(cause);
        }
        return ended;
    }

    private IOException notWritten() {
        return new IOException("cannot tell of all bytes sent on " + this
                + " that they were written: it has ended, and some were lost");
    }

    // ---- Flushing ----

    private void flushLater() {
        if (!flushing) {
            flushing = true;
            loop.atEndOfTurn(this);
        }
    }

    /** Flushes, at the end of a turn, what was sent outside callbacks. */
    @Override
    public final void run() {
        flushing = false;
        flush();
    }

    /** Flushes, unless a callback is running, after which it is done anyway. */
    final void flushUnlessCalled() {
        if (!inCallback) {
            flush();
        }
    }

    final void flush() {
        StreamTransport to = transport;
        if (over || finishing || to == null || (!connected && !queue.isEmpty())) {
            return; // flushed when the connection is established
        }
        boolean empty;
        try {
            empty = gathered > 0 ? flushOutput(to) : queue.isEmpty() || flushQueue(to);
        } catch (IOException e) {
            onBroken(e);
            return;
        }
        finishFlush(to, empty);
    }

    /** Flushes in the usual case, without allocating an object. */
    private boolean flushOutput(StreamTransport to) throws IOException {
        ByteBuffer output = loop.output().flip();
        boolean all = false;
        try {
            all = to.send(output);
        } finally {
            countSent(output.position());
            if (all) {
                output.clear();
                gathered = 0;
            } else {
                gathered = output.compact().position();
            }
        }
        if (!all) {
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
                countSent(gone);
                WriteWatch watch = writeWatch;
                if (watch != null) {
                    watch.restart();
                }
            }
        }
    }

    private void finishFlush(StreamTransport to, boolean empty) {
        // No send is announced: see SendGate. If one is, this is checked again when it has arrived.
        if (empty && refuses() && isQuiet() && onAllSent(to)) {
            return;
        }
        WriteWatch watch = writeWatch;
        if (!empty && watch != null) {
            watch.start();
        }
        // Including what was announced, because its sender was told about it, too.
        long bytes = queuedBytes();
        if (bytes > settings.highWater) {
            aboveHigh = true;
            pauseOrResume();
        } else if (bytes <= settings.lowWater) {
            if (aboveHigh || framesHeld) {
                aboveHigh = false;
                pauseOrResume();
            }
            if (owesWritable && OWES_WRITABLE.compareAndSet(this, true, false)) {
                // The promise may be younger than the look at the bytes, and about bytes that were announced since.
                if (queuedBytes() > settings.lowWater) {
                    owesWritable = true;
                } else {
                    // Not called directly: a handler that sends more would get here again, deeper each time.
                    loop.atEndOfTurn(this::tellWritable);
                }
            }
        }
    }

    private void tellWritable() {
        if (!isEnding()) {
            call(() -> {
                if (isWanted()) {
                    handler.onWritable(this);
                }
            });
        }
    }

    // ---- What waits ----

    /** Returns the queue, creating it if necessary. Any thread. */
    @SuppressWarnings("ReferenceEquality") // compares identity on purpose
    private WriteQueue queue() {
        if (queue == WriteQueue.NOTHING) {
            QUEUE.compareAndSet(this, WriteQueue.NOTHING, new WriteQueue());
        }
        return queue;
    }

    /** Returns whether output waits that the system did not take. On the loop. */
    final boolean isWaiting() {
        return !queue.isEmpty();
    }

    @Override
    public final long queuedBytes() {
        return waitingBytes() + queue.fileBytes();
    }

    private SendResult result(long bytes) {
        if (bytes <= settings.highWater) {
            return SendResult.QUEUED;
        }
        owesWritable = true;
        return SendResult.ABOVE_HIGH_WATER;
    }

    /**
     * If this returns false, {@code onWritable} will be called, which the flag requests. The flag is set before the
     * bytes are read again, and the loop reads the flag after the bytes are gone; so one of the two sees the other. A
     * caller that finds room does not take the flag, which another one may have set and wait for: it has the loop look
     * at it again.
     */
    @Override
    public final boolean isWritable() {
        if (refuses()) {
            return false;
        }
        if (!owesWritable && queuedBytes() <= settings.highWater) {
            return true;
        }
        if (queuedBytes() > settings.lowWater) {
            owesWritable = true;
            if (queuedBytes() > settings.lowWater) {
                return false;
            }
        }
        runOnLoop(() -> loop.atEndOfTurn(this::tellWritableIfOwed));
        return true;
    }

    private void tellWritableIfOwed() {
        if (queuedBytes() <= settings.lowWater && OWES_WRITABLE.compareAndSet(this, true, false)) {
            tellWritable();
        }
    }

    @Override
    public final long bytesSent() {
        return (long) BYTES_OUT.getOpaque(this);
    }

    /**
     * Leaves the loop's output to the next connection, because this one will soon be over: what it has gathered is lost.
     * On the loop.
     */
    final void abandonOutput() {
        if (gathered > 0) {
            abandoned = gathered;
            lost = true;
            giveUpOutput();
        }
    }

    /** Returns how many bytes will not be sent if it ends now. On the loop. */
    final long unsentBytes() {
        return queuedBytes() + gathered + abandoned;
    }

    /** Drops what we have put into the loop's output, so that the next connection finds it empty. */
    private void giveUpOutput() {
        if (gathered > 0) {
            loop.output().clear();
            gathered = 0;
        }
    }

    /** Drops all output, because the connection is over. On the loop. */
    final void dropOutput() {
        giveUpOutput();
        if (!queue.isEmpty()) {
            long held = queue.bytes();
            queue.clear();
            release(held);
        }
        WriteWatch watch = writeWatch;
        if (watch != null) {
            watch.stop();
        }
    }
}
