package io.millrace.server.connection;

import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.pool.ObjectPool;
import io.millrace.engine.pool.Pooled;
import io.millrace.engine.recorder.FlightRecorderSwitch;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.engine.transport.StreamTransport;
import io.millrace.engine.transport.TransportSink;
import io.millrace.net.ByteStream;
import io.millrace.net.TcpStream;
import io.millrace.net.UnixAddress;
import io.millrace.poll.internal.Durations;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.ConnectionSnapshot;
import io.millrace.server.Framing;
import io.millrace.server.Idle;
import io.millrace.server.Relay;
import io.millrace.server.ServerContext;
import io.millrace.server.framing.FramingTerms;
import io.millrace.server.secure.TlsSettings;
import io.millrace.server.secure.TlsTransport;
import io.millrace.server.support.ConnectionEvents;
import io.millrace.server.support.ConnectionLog;
import io.millrace.server.support.ServerSettings;
import io.millrace.server.support.UnixPeers;
import io.millrace.server.tls.TlsSession;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * One connection, between its transport and its handler. Its state belongs to its loop; calls from other threads are
 * handed over to the loop.
 *
 * <h2>The path of a byte</h2>
 *
 * The transport reads into the loop's buffer and calls {@link #onReceived}, which passes that buffer to {@code onData}.
 * What the handler sends during the call is copied into the loop's output buffer, which is written with one system call
 * when the handler returns. A larger piece is written at once, after what was gathered so far. Only what the system
 * does not take waits in the {@link WriteQueue}. What other threads send is copied and goes out at the end of the
 * loop's turn. A file takes its place in the queue; its bytes never enter the process.
 *
 * <h2>Why this is one object in layers</h2>
 *
 * Sending, reading, timeouts and closing form one state machine. Each depends on the state of the others: for example,
 * whether a close finds waiting bytes, or whether silence counts while reading is paused. Splitting it into objects that
 * always exist would cost every idle connection their headers and references in both directions, and there may be a
 * hundred thousand of them. So a connection is one object, but four classes, each of which extends the one before and
 * uses the next one only through the few methods that it declares abstract:
 *
 * <ol>
 *   <li>{@link SendGate} admits sends, and counts what waits. Any thread.
 *   <li>{@link ConnectionCalls} calls the handler, and keeps what was promised to other threads.
 *   <li>{@link ConnectionOutput} sends, gathers, queues and flushes.
 *   <li>This class reads and closes, and so decides what the others only report. These two stay together: a close
 *       depends on what is still read, and reading on how far the close has come.
 * </ol>
 *
 * What has its own state is an object of its own, and exists only from when it is needed: {@link WriteQueue}, {@link
 * FileRegion}, {@link PendingWrites} and {@link WriteWatch} below the output; {@link SerialExecutor} and {@link Errands}
 * below the calls; {@link FrameDecoder}, {@link IdleWatch} and {@link Lingering} here. What all connections of a loop
 * share, such as the buffers, belongs to the loop.
 *
 * <h2>Closing</h2>
 *
 * <ol>
 *   <li>{@code ending}: close was called. Further sends are refused, and pending output is flushed.
 *   <li>{@code lingering}, if the peer was sending or may be about to: the peer is told that no more bytes follow, and
 *       its input is discarded until it closes too, or for one second.
 *   <li>{@code over}: the transport is closed, with a reset if bytes were lost, the keeper no longer knows the id, and
 *       {@code onDisconnect} is the last call.
 * </ol>
 */
public final class StreamConnection extends ConnectionOutput implements TransportSink {
    private static final VarHandle BYTES_IN;
    private static final VarHandle DOOMED;
    private static final VarHandle IDLE_WATCH;
    private static final VarHandle NEXT_FRAMING;
    private static final VarHandle RELAYED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            BYTES_IN = lookup.findVarHandle(StreamConnection.class, "bytesIn", long.class);
            DOOMED = lookup.findVarHandle(StreamConnection.class, "doomed", boolean.class);
            IDLE_WATCH = lookup.findVarHandle(StreamConnection.class, "idleWatch", IdleWatch.class);
            NEXT_FRAMING = lookup.findVarHandle(StreamConnection.class, "nextFraming", FramingTerms.class);
            RELAYED = lookup.findVarHandle(StreamConnection.class, "relayed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final long id;
    private final ByteStream stream;
    private final ConnectionKeeper keeper;
    private final ObjectPool<ByteBuffer> buffers;
    private final InetSocketAddress remote;

    private volatile @Nullable Object attachment;
    /** What was agreed on; null without TLS. */
    private volatile @Nullable TlsSession tls;
    /** Whether the connection ended by a failure, a limit or an abort, or with unsent bytes. */
    private volatile boolean endedBadly;

    /** Used by callbacks: finds the frames; null without a framing. */
    @Nullable
    FrameDecoder frames;

    /** Written by callbacks: {@code onEndOfInput} was called. */
    private volatile boolean inputEndTold;
    /** The connection has been told to end, and does so as soon as its loop gets to it. */
    private volatile boolean doomed;
    /** The peer was disconnected from outside the loop, so failures that the loop meets afterwards are not reported. */
    private volatile boolean cutOff;
    /**
     * Whether the user has paused it. Written by the thread that calls, and applied by the loop: so of two calls on
     * different threads, the last one counts, although the loop may get to them in another order.
     */
    private volatile boolean pausedByUser;
    /** The same for the other side of a {@link Relay}, which pauses it while it is full or not connected yet. */
    private volatile boolean pausedByRelay;
    /** Whether a relay has it, or is about to. */
    @SuppressWarnings("UnusedVariable") // accessed through RELAYED
    private volatile boolean relayed;
    /** Null if it never had a limit. */
    private volatile @Nullable IdleWatch idleWatch;
    /**
     * The framing that was asked for last, by whatever thread; null if it is set already. So of two calls the last one
     * counts, although the one before may get to a callback later.
     */
    @SuppressWarnings("UnusedVariable") // read through NEXT_FRAMING
    private volatile @Nullable FramingTerms nextFraming;

    // ---- Used on the loop only ----
    private long bytesIn;
    /** When its loop opened it; 0 before that. */
    private long opened;
    /** Whether {@code onConnect} was called, so that {@code onDisconnect} has to follow. */
    private boolean announced;

    private boolean pausedByBacklog;
    /** Whether it is read while above the high-water mark. Written on the loop, read by callbacks. */
    private volatile boolean readWhileFull;

    private boolean deliveringSoon;

    private boolean closeWhenSent;

    /** Everything is sent, and the loop is about to close or linger. */
    private boolean leaving;
    /** Null unless it is at that stage of its close. */
    private @Nullable Lingering lingering;
    /** The loop is in its last turn, so nothing can be left for later. */
    private boolean lastTurn;

    private boolean inputEnded;
    /** Whether callbacks have got to that end, which they may do later off the loop. */
    private boolean inputEndHandled;

    private boolean outputEnded;
    private boolean aborting;
    private long backlog;
    /** When bytes were last received; at first, when it was opened. */
    private long lastIn;
    /** Like {@link #lastIn}, but at first a second before the beginning, and including bytes that are discarded. */
    private long lastReceived;
    /** To be run when reading resumes. */
    private @Nullable Runnable atResume;

    public StreamConnection(
            long id,
            ServerLoop loop,
            ByteStream stream,
            InetSocketAddress remote,
            ConnectionHandler handler,
            ServerSettings settings,
            ConnectionDispatcher callbacks,
            ConnectionKeeper keeper) {
        super(loop, handler, callbacks.serial(id, loop), settings);
        this.id = id;
        this.stream = stream;
        this.keeper = keeper;
        this.buffers = callbacks.buffers();
        this.remote = remote;
        this.readWhileFull = settings.readWhileFull;
    }

    // ---- Opening ----

    /** Opens the connection, on the loop: from here on, the handler is called. */
    public void open() {
        lastIn = loop.now();
        opened = lastIn;
        lastOut = lastIn;
        lastReceived = lastIn - Lingering.NANOS;
        if (settings.limitsIdle()) {
            idleWatch().apply(lastIn);
        }
        if (isEnding()) {
            finish(null); // closed before its loop got to it
            return;
        }
        // Before it is attached: a manager of another kind may finish the connect itself, and then its transport says
        // so.
        boolean stands = stream.isConnected() && settings.tls == null;
        int bufferSize = settings.bufferSize(isOnLoop() && loop.sharesBuffer());
        try {
            transport = settings.tls instanceof TlsSettings secure
                    ? TlsTransport.attach(loop, stream, this, remote, bufferSize, secure, connectedTo())
                    : loop.attach(stream, this, bufferSize);
        } catch (Throwable e) {
            finish(new IOException("cannot watch " + this + ": " + e.getMessage(), e));
            return;
        }
        if (stands) {
            onConnected();
        }
    }

    /** Returns what a client has connected to; null on a server. */
    private @Nullable InetSocketAddress connectedTo() {
        return handler instanceof ConnectAttempt attempt ? attempt.target() : null;
    }

    @Override
    public void onConnected() {
        if (transport instanceof TlsTransport secured) {
            tls = secured.session();
            if (!(handler instanceof ConnectAttempt)) {
                keeper.onSecured(this);
            }
        }
        if (handler instanceof ConnectAttempt attempt && !attempt.isWanted(this)) {
            finishSoon(null);
            return;
        }
        connected = true;
        IdleWatch watch = idleWatch;
        if (watch != null && watch.isSet()) {
            lastIn = loop.now();
            lastOut = lastIn;
            watch.start();
        }
        announced = true;
        call(this::tellConnect);
        flushUnlessCalled();
    }

    /** Calls {@code onConnect}. If it throws, the connection is refused. */
    private void tellConnect() {
        ConnectAttempt attempt = handler instanceof ConnectAttempt made ? made : null;
        try {
            if (attempt != null) {
                handler = attempt.handler();
            }
            if (handler instanceof PerConnection each) {
                ConnectionHandler own = each.handlerFor(this);
                handler = handler instanceof RelaySide side ? side.over(own) : own;
            }
            handler.onConnect(this);
            if (attempt != null) {
                attempt.onAccepted(this);
            }
        } catch (Throwable e) {
            refused = true;
            if (attempt != null) {
                attempt.onRefused(e);
            }
            tellThrown(e);
            close();
        }
    }

    // ---- Calls from the transport ----

    /** What its turn will need: itself and, if it is relayed, the connection that its bytes go to. */
    @Override
    public int prefetch() {
        return handler instanceof RelaySide side ? prefetchSelf() + side.prefetchOther() : prefetchSelf();
    }

    /** What a send of the other side of a relay will need. On the loop. */
    int prefetchForRelay() {
        StreamTransport to = transport;
        return prefetchSelf() + (to != null && to.hasInput() ? 1 : 0);
    }

    /** Reads a field from each of the object's three cache lines. */
    private int prefetchSelf() {
        return (int) bytesIn + (transport == null ? 0 : 1) + (frames == null ? 0 : 1);
    }

    @Override
    public void onReceived(ByteBuffer data) {
        BYTES_IN.setOpaque(this, bytesIn + data.remaining());
        if (lingering != null || doomed || refused) {
            return;
        }
        if (leaving) {
            lastReceived = loop.now();
            return;
        }
        lastIn = loop.now();
        lastReceived = lastIn;
        if (unwanted) {
            return;
        }
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
                    if (isWanted()) {
                        tellData(copy.get());
                    }
                }
                runOnLoop(() -> {
                    backlog -= size;
                    pauseOrResume();
                });
            });
        }
    }

    /** Like {@link #callHere}, but without allocating an object for the call: this is the hot path. */
    private void deliverHere(ByteBuffer data) {
        inCallback = true;
        tellData(data);
        inCallback = false;
        if (gathered > 0 || written > 0 || isWaiting() || refuses()) {
            afterCallback();
        }
    }

    /** Flushes what the callback sent, and does what it asked for. */
    @Override
    void afterCallback() {
        written = 0;
        if (aborting) {
            finishSoon(null);
        } else {
            flush();
        }
    }

    /** Delivers bytes, in a callback. If the handler sets a framing, that gets what the handler has not consumed. */
    private void tellData(ByteBuffer data) {
        FrameDecoder decoder = frames;
        if (decoder == null) {
            int limit = data.limit();
            tellHandler(data);
            decoder = frames;
            if (decoder == null) {
                return;
            }
            if (decoder.isRaw()) {
                frames = null; // another framing was set and taken back
                return;
            }
            data.limit(limit);
        }
        decoder.received(data);
    }

    /** Calls the handler with a frame, or with bytes as they came. In a callback. */
    void tellHandler(ByteBuffer data) {
        try {
            if (DebugBuffers.ON) {
                DebugBuffers.deliver(handler, this, data);
            } else {
                handler.onData(this, data);
            }
        } catch (Throwable e) {
            tellThrown(e);
        }
    }

    @Override
    public void setFraming(Framing framing) {
        nextFraming = FramingTerms.of(framing);
        if (isInCallback()) {
            useFraming();
        } else {
            executeUnlessEnded(this::useFraming);
        }
    }

    /**
     * Sets the framing that was asked for last, unless that is done. In a callback; kept bytes are searched after it has
     * returned.
     */
    private void useFraming() {
        FramingTerms start = (FramingTerms) NEXT_FRAMING.getAndSet(this, (FramingTerms) null);
        if (start == null) {
            return;
        }
        FrameDecoder decoder = frames;
        if (decoder == null) {
            if (start.isNone()) {
                return;
            }
            decoder = new FrameDecoder(this);
            frames = decoder;
        }
        if (decoder.use(start)) {
            executeUnlessEnded(this::lookAtFrames);
        }
    }

    private void lookAtFrames() {
        FrameDecoder decoder = frames;
        if (decoder != null) {
            decoder.look();
        }
    }

    @Override
    public void onEndOfInput() {
        inputEnded = true;
        if (lingering != null) {
            finishSoon(null);
            return;
        }
        if (leaving || doomed || cutOff) {
            return; // as if it were closed already: it may be an end that only this side sees
        }
        call(() -> {
            try {
                if (isWanted()) {
                    FrameDecoder decoder = frames;
                    if (decoder == null) {
                        tellEndOfInput();
                    } else {
                        decoder.endOfInput();
                    }
                }
            } finally {
                if (!isOnLoop()) {
                    runOnLoop(this::onInputEndHandled);
                }
            }
        });
        if (isOnLoop()) {
            onInputEndHandled();
        }
    }

    /** The handler was told of the end, or frames before it are held, which is not known earlier. On the loop. */
    private void onInputEndHandled() {
        inputEndHandled = true;
        endIfBothEnded();
    }

    /** Calls {@code onEndOfInput}, in a callback, after everything that came before was delivered. */
    void tellEndOfInput() {
        inputEndTold = true;
        try {
            handler.onEndOfInput(this);
        } catch (Throwable e) {
            tellThrown(e);
        }
    }

    /**
     * Ends the connection if both directions have ended. During a callback, or while frames are held, this does nothing;
     * it is checked again afterwards.
     */
    private void endIfBothEnded() {
        if (inputEndHandled && outputEnded && !inCallback && !framesHeld) {
            finishSoon(null);
        }
    }

    @Override
    public void onWritable() {
        flush();
    }

    @Override
    public void onFailed(IOException cause) {
        if (!over) {
            finish(lingering != null || leaving ? null : cause);
        }
    }

    // ---- Pausing and resuming ----

    @Override
    void pauseOrResume() {
        pausedByBacklog = backlog > 4L * settings.bufferSize(false);
        StreamTransport to = transport;
        if (to == null || lingering != null) {
            return;
        }
        if (framesHeld && !holdsFrames() && (readWhileFull || !aboveHigh)) {
            deliverHeldFramesSoon();
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

    /** Returns whether arrived bytes are left unread. On the loop. */
    boolean isPaused() {
        return pausedByUser || pausedByBacklog || pausedByRelay || framesHeld || (aboveHigh && !readWhileFull);
    }

    /**
     * Returns whether frames that have arrived must wait, as bytes do in the kernel: one read may bring thousands of
     * them. Any thread.
     */
    boolean holdsFrames() {
        return pausedByUser || (!readWhileFull && queuedBytes() > settings.highWater);
    }

    /**
     * Remembers whether there are frames that wait. The loop looks at this once more, so that a resume in the meantime
     * is not lost. In a callback.
     */
    void setFramesHeld(boolean held) {
        if (held || framesHeld) {
            framesHeld = held;
            runOnLoop(() -> {
                lastIn = loop.now(); // silence does not count while they are held, and counts anew when they are not
                pauseOrResume();
                if (!over) {
                    endIfBothEnded(); // off the loop, nobody else looks again after the last of them
                }
            });
        }
    }

    /** Not called directly: a handler that sends more would get here again, deeper each time. */
    private void deliverHeldFramesSoon() {
        if (!deliveringSoon) {
            deliveringSoon = true;
            loop.atEndOfTurn(() -> {
                deliveringSoon = false;
                if (!over) {
                    call(this::lookAtFrames);
                    endIfBothEnded();
                }
            });
        }
    }

    /** Sets what to run when reading resumes; one task at a time. On the loop, while it is paused. */
    void runAtResume(Runnable what) {
        atResume = what;
    }

    @Override
    public void pauseReads() {
        pausedByUser = true;
        runOnLoop(this::pauseOrResume);
    }

    @Override
    public void resumeReads() {
        pausedByUser = false;
        runOnLoop(this::pauseOrResume);
    }

    // ---- For RelaySide ----

    /** Takes it for a relay. Returns false if it has one. Any thread. */
    boolean tryRelay() {
        return RELAYED.compareAndSet(this, false, true);
    }

    /** Undoes {@link #tryRelay}, before anything was relayed. */
    void relayNoMore() {
        relayed = false;
    }

    /** Begins to read, except while the other side is full. Any thread. */
    void beginRelay() {
        pausedByUser = false;
        pausedByRelay = false;
        runOnLoop(() -> {
            readWhileFull = true;
            pauseOrResume();
        });
    }

    /** Pauses or resumes reading for the relay. Any thread; calls that are ordered take effect in that order. */
    void setPausedByRelay(boolean paused) {
        pausedByRelay = paused;
        runOnLoop(this::pauseOrResume);
    }

    /** Returns whether {@code onEndOfInput} was called. In a callback, or after the end. */
    boolean isInputEndTold() {
        return inputEndTold;
    }

    /** Returns whether the other side of a relay must not take this for a regular end. In the last callback, or later. */
    public boolean hasEndedBadly() {
        return endedBadly;
    }

    // ---- Closing ----

    @Override
    public void closeOutput() {
        endOutput();
        runBetweenCallbacks(this::flushUnlessCalled);
    }

    @Override
    public void close() {
        unwanted = true;
        if (!isEnding()) {
            end();
            runBetweenCallbacks(this::closeHere);
        }
    }

    /** Closes as a graceful end does: one that has a conversation is only told, and closed when that has ended. */
    public void closeGracefully() {
        if (!settings.converses) {
            close();
            return;
        }
        runOnLoop(() -> {
            if (announced && !over && handler instanceof Conversing conversation) {
                conversation.onShutdown();
            } else {
                close();
            }
        });
    }

    /** Closes when everything is sent. On the loop, after {@link #end()}. */
    void closeHere() {
        closeWhenSent = true;
        flushUnlessCalled();
    }

    @Override
    public void abort() {
        unwanted = true;
        end();
        runBetweenCallbacks(() -> {
            aborting = true;
            if (!inCallback) {
                finishSoon(null);
            }
        });
    }

    @Override
    public void reset() {
        unwanted = true;
        end();
        runBetweenCallbacks(() -> {
            lost = true; // what the system has taken of it, too
            abort();
        });
    }

    /** Makes the close that follows a reset, so that the peer does not take what it got for the whole. On the loop. */
    private void resetAtClose() {
        if (!(stream instanceof TcpStream tcp)) {
            return; // a Unix socket cannot: its peer sees an end
        }
        try {
            tcp.setLinger(Duration.ZERO);
        } catch (IOException | IllegalStateException e) {
            // It is closed or broken, so the peer knows; or it is still connecting and has no peer yet.
        }
    }

    @Override
    public boolean isClosed() {
        return isEnding();
    }

    /**
     * Ends the connection for a reason as soon as its loop gets to it; further sends are refused at once. It never ends
     * within this call, because the caller may be using this connection, or iterating over a collection that contains
     * it. Only the first reason counts. Any thread.
     */
    @Override
    public void end(IOException why) {
        end();
        Runnable released = doom();
        if (released == null) {
            return;
        }
        Runnable last = () -> {
            finish(why);
            released.run();
        };
        if (loop.inLoop()) {
            loop.runSoon(last);
        } else {
            try {
                loop.execute(() -> loop.runSoon(last));
            } catch (RejectedExecutionException e) {
                released.run();
            }
        }
    }

    /** Marks the connection as about to end. Returns what to run then; null if it was already marked. Any thread. */
    private @Nullable Runnable doom() {
        // Before DOOMED is set; otherwise other connections could be closed for what this one still holds.
        Runnable released = keeper.willRelease(this);
        if (DOOMED.compareAndSet(this, false, true)) {
            return released;
        }
        released.run();
        return null;
    }

    @Override
    public boolean isDoomed() {
        return doomed;
    }

    @Override
    void onBroken(IOException cause) {
        if (lastTurn) {
            finish(cause);
        } else {
            finishSoon(cause);
        }
    }

    @Override
    boolean onAllSent(StreamTransport to) {
        if (closeWhenSent) {
            finishWhenRead(to);
            return true;
        }
        if (isOutputEnding() && !outputEnded) {
            outputEnded = true;
            to.closeOutput();
            endIfBothEnded();
            return finishing;
        }
        return false;
    }

    @Override
    void charge(long bytes) {
        keeper.onBytesWaiting(this, bytes);
    }

    @Override
    void chargeFiles(int change) {
        keeper.onFilesWaiting(this, change);
    }

    /**
     * Ends the connection as soon as the loop gets to it; nothing more is sent or received. Ending is costly, and many
     * connections may end at once. On the loop.
     */
    void finishSoon(@Nullable IOException cause) {
        end();
        if (!finishing) {
            finishing = true;
            Runnable released = doom();
            abandonOutput();
            loop.runSoon(() -> {
                finish(cause);
                if (released != null) {
                    released.run();
                }
            });
        }
    }

    /**
     * Ends the connection, for a reason if there is one. If everything was sent, it is at that point for good: a send
     * that another thread announces now will be refused. On the loop.
     */
    private void finish(@Nullable IOException cause) {
        if (over) {
            return;
        }
        over = true;
        end();
        long unsent = leaving || outputEnded ? 0 : unsentBytes();
        if (unsent > 0) {
            lost = true;
        }
        if (lost) {
            resetAtClose();
        }
        endedBadly = lost || aborting || cutOff || (cause != null && !(cause instanceof SocketTimeoutException));
        closeTransport();
        dropOutput();
        stopIdleWatch();
        Lingering waits = lingering;
        if (waits != null) {
            waits.stop();
        }
        if (FlightRecorderSwitch.isOn()) {
            ConnectionEvents.ended(() -> snapshot(null), unsent, cause);
        }
        boolean last = keeper.tryRemove(this, unsent);
        keepPromises(cause);
        if (cause != null && announced && !cutOff) {
            call(() -> tellError(cause));
        }
        if (!announced && handler instanceof ConnectAttempt attempt) {
            attempt.onFailed(cause);
            if (last) {
                keeper.onEnded(this);
            }
            return;
        }
        call(() -> {
            FrameDecoder decoder = frames;
            if (decoder != null) {
                decoder.close();
                frames = null;
            }
            try {
                if (announced) {
                    tellDisconnect();
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

    /** Closes the socket. Whatever an event manager makes of that, the end must be told. On the loop. */
    private void closeTransport() {
        StreamTransport to = transport;
        try {
            if (to == null) {
                stream.close();
            } else if (lost) {
                to.abort();
            } else {
                to.close();
            }
        } catch (Throwable e) {
            FailureLog.report("closing " + this, e);
        }
    }

    /** Calls {@code onDisconnect}, which is the last call: what it throws is logged. In a callback. */
    private void tellDisconnect() {
        try {
            handler.onDisconnect(this);
        } catch (Throwable e) {
            examine(e);
            ConnectionLog.standard()
                    .log(ConnectionLog.Kind.CALLBACK, e, "onDisconnect of ", handler, " threw, for ", this);
        }
    }

    /** Sends what the system takes now, then ends: the loop is in its last turn. */
    @Override
    public void onLoopEnd() {
        if (over || finishing) {
            return; // its scheduled end still runs in this turn
        }
        lastTurn = true;
        end();
        closeWhenSent = true;
        try {
            flush();
        } finally {
            long left = queuedBytes();
            finish(
                    left == 0 || lingering != null
                            ? null
                            : new IOException("closed " + this + ": its event manager has ended, and " + left
                                    + " bytes could not be sent; close the server or client before its manager"));
        }
    }

    /** Disconnects the peer with shutdown(2), because the loop may be blocked and unable to close. Any thread. */
    public void cutOff() {
        cutOff = true;
        try {
            stream.shutdownOutput();
            stream.shutdownInput();
        } catch (IOException | IllegalStateException e) {
            // It is closed or broken, so the peer knows; or it is still connecting and has no peer yet.
        }
    }

    /**
     * Ends the connection after everything is sent. If there is unread input, or some arrives after the close, that
     * resets the connection, and the peer's system may discard bytes that the peer has not read yet. So the peer is told
     * that no more bytes follow, and its input is read and discarded until it closes too, or for {@link
     * Lingering#NANOS}; unless nothing has come from it for as long.
     */
    private void finishWhenRead(StreamTransport to) {
        if (!leaving) {
            leaving = true;
            if (lastTurn) {
                finishOrLinger(to);
            } else {
                loop.runSoon(() -> finishOrLinger(to));
            }
        }
    }

    private void finishOrLinger(StreamTransport to) {
        if (over || finishing || lingering != null) {
            return;
        }
        boolean active = !inputEnded && isPeerActive(to);
        if (!active) {
            finish(null);
        }
        if (over) {
            return; // or it has failed meanwhile
        }
        Lingering last = new Lingering(this);
        lingering = last;
        to.closeOutput();
        to.resume();
        stopIdleWatch();
        last.start();
        if (lastTurn) {
            to.readNow(); // there is no time to wait, but what has come already need not reset the connection
        }
    }

    /**
     * Returns whether the peer has sent something in the last second, or has connected in the last second and so may be
     * about to send; in that case it matters only if it was sent something. In the end it looks at the system, because
     * input may have arrived that the loop was not told about.
     */
    private boolean isPeerActive(StreamTransport to) {
        long now = loop.now();
        if (to.hasInput()
                || now - lastReceived < Lingering.NANOS
                || (now - lastIn < Lingering.NANOS && bytesSent() > 0)) {
            return true;
        }
        to.resume();
        to.readNow();
        return !inputEnded && now - lastReceived < Lingering.NANOS;
    }

    // ---- Silence ----

    @Override
    public void setIdleTimeout(Duration timeout) {
        setIdle(Idle.BOTH, Durations.limitNanos(timeout, "the idle timeout"));
    }

    @Override
    public void setReadIdleTimeout(Duration timeout) {
        setIdle(Idle.READ, Durations.limitNanos(timeout, "the read idle timeout"));
    }

    @Override
    public void setWriteIdleTimeout(Duration timeout) {
        setIdle(Idle.WRITE, Durations.limitNanos(timeout, "the write idle timeout"));
    }

    private void setIdle(Idle kind, long nanos) {
        IdleWatch watch = idleWatch();
        watch.ask(kind, nanos);
        runOnLoop(() -> {
            if (connected && !over && lingering == null) {
                watch.change(kind);
            } else {
                watch.apply(kind, loop.now()); // watched when it is established, or never
            }
        });
    }

    /** Returns what watches over its silence, creating it if necessary. Any thread. */
    private IdleWatch idleWatch() {
        IdleWatch watch = idleWatch;
        if (watch == null) {
            IDLE_WATCH.compareAndSet(this, (IdleWatch) null, new IdleWatch(this, settings));
            watch = Objects.requireNonNull(idleWatch);
        }
        return watch;
    }

    private void stopIdleWatch() {
        IdleWatch watch = idleWatch;
        if (watch != null) {
            watch.stop();
        }
    }

    long lastIn() {
        return lastIn;
    }

    /** Calls {@code onIdle}. On the loop. */
    void tellIdle(Idle kind) {
        call(() -> {
            if (isWanted()) {
                handler.onIdle(this, kind);
            } else if (!refused) {
                endIdle(kind); // closed, and its peer does not take the rest
            }
        });
    }

    /** The default of {@code onIdle}. Any thread. */
    public void endIdle(Idle kind) {
        IdleWatch watch = idleWatch;
        long millis = watch == null ? 0 : watch.nanos(kind) / 1_000_000;
        String what = switch (kind) {
            case BOTH -> "nothing was received or sent";
            case READ -> "nothing was received";
            case WRITE -> "nothing was sent";
        };
        end(new SocketTimeoutException("closed " + this + ": idle for " + millis + " ms, " + what));
    }

    /**
     * Counts silence from now on if there is input that we chose not to read, or not to deliver, because then it is not
     * the peer's fault. Input that is unread because the peer does not take our output does not count. On the loop.
     */
    void excuseUnreadInput() {
        StreamTransport to = transport;
        boolean unread = to != null && to.hasInput() && isPaused() && !aboveHigh;
        if (unread || (framesHeld && isWanted())) {
            lastIn = loop.now();
        }
    }

    /**
     * Reads what has arrived, even if the loop has not been told about it. Returns true if there is more. On the loop.
     */
    boolean readArrived() {
        StreamTransport to = transport;
        if (over || to == null) {
            return false;
        }
        to.readNow();
        return !over && to.hasInput();
    }

    // ---- Properties ----

    /**
     * Returns how it is now. Any thread: this reads fields of the loop's without synchronization, each of which is
     * whole, and recent enough to look at.
     */
    public ConnectionSnapshot snapshot(@Nullable InetSocketAddress local) {
        long now = loop.nanoTime();
        long since = opened == 0 ? now : opened;
        return new ConnectionSnapshot(
                id,
                remote,
                local,
                state(),
                loop.toString(),
                handlerName(),
                queuedBytes(),
                settings.lowWater,
                settings.highWater,
                isPaused(),
                bytesReceived(),
                bytesSent(),
                ago(now, since),
                ago(now, opened == 0 ? now : lastIn),
                ago(now, opened == 0 ? now : lastOut),
                tls);
    }

    private static Duration ago(long now, long then) {
        return Duration.ofNanos(Math.max(0, now - then));
    }

    private ConnectionSnapshot.State state() {
        if (over) {
            return ConnectionSnapshot.State.CLOSED;
        }
        if (lingering != null || leaving) {
            return ConnectionSnapshot.State.LINGERING;
        }
        if (isEnding()) {
            return ConnectionSnapshot.State.CLOSING;
        }
        if (!connected) {
            return ConnectionSnapshot.State.OPENING;
        }
        return inputEnded ? ConnectionSnapshot.State.INPUT_ENDED : ConnectionSnapshot.State.OPEN;
    }

    private String handlerName() {
        ConnectionHandler present = handler;
        Object named = present instanceof ConnectAttempt attempt
                ? attempt.handler()
                : present instanceof PerConnection each ? each.factory() : present;
        return named.getClass().getName();
    }

    /** Returns whether more is waiting than its high-water mark allows. Any thread. */
    public boolean isFull() {
        return queuedBytes() > settings.highWater;
    }

    /** Returns its local address, which may need a system call; null if it is closed or broken. Any thread. */
    public @Nullable InetSocketAddress localAddressIfOpen() {
        try {
            return stream instanceof TcpStream tcp ? tcp.localAddress() : remote;
        } catch (IOException | IllegalStateException e) {
            return null;
        }
    }

    @Override
    public long bytesReceived() {
        return (long) BYTES_IN.getOpaque(this);
    }

    public ServerLoop loop() {
        return loop;
    }

    ByteStream stream() {
        return stream;
    }

    @Override
    public ServerContext server() {
        return keeper.context();
    }

    @Override
    public long id() {
        return id;
    }

    @Override
    public InetSocketAddress localAddress() {
        if (!(stream instanceof TcpStream tcp)) {
            return remote; // both ends of a Unix socket are known by the path of the listener
        }
        try {
            return tcp.localAddress();
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
    public @Nullable UnixAddress unixAddress() {
        return UnixPeers.addressOf(stream);
    }

    @Override
    public Optional<TlsSession> tls() {
        return Optional.ofNullable(tls);
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
