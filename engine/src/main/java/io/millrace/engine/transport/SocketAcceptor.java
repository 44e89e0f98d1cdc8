package io.millrace.engine.transport;

import io.millrace.engine.AlarmCallback;
import io.millrace.engine.Priority;
import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.internal.Insistence;
import io.millrace.engine.internal.SpareDescriptor;
import io.millrace.engine.reactor.EventSink;
import io.millrace.engine.reactor.Reactor;
import io.millrace.net.ByteStream;
import io.millrace.net.StreamListener;
import io.millrace.poll.Interest;
import io.millrace.poll.Trigger;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Descriptor;
import io.millrace.sys.posix.Sockets;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Accepts on a reactor: {@value Reactor#COSTLY} connections in a turn, then other work has its turn.
 *
 * <p><b>Out of descriptors.</b> The edge that announced a connection is used up, and no new one comes for it. So a
 * {@linkplain SpareDescriptor spare descriptor} is kept, with which the connection is turned away. The acceptor then
 * tries again after an alarm, until no connection is waiting. It never spins, and needs no new connection to recover
 * (mill-11).
 *
 * <p><b>Out of memory.</b> So it does if the heap is full: if there is no memory even for the alarm, the loop pauses
 * instead, because it can do nothing else either.
 */
class SocketAcceptor implements EventSink, Runnable, Acceptor {
    private static final int ACCEPTS = Reactor.COSTLY;
    /** No system's queue holds more connections than this. Any that come after as many came after the close. */
    private static final int DRAINED = 1 << 16;

    private static final long RETRY_NANOS = 50_000_000;
    private static final long PAUSE_NANOS = 10_000_000;

    private final ReactorServerLoop loop;
    private final StreamListener listener;
    private final Consumer<ByteStream> accepted;
    private final Consumer<IOException> failed;
    private boolean queued;
    private boolean waiting;
    private boolean closed;
    /** Whether the last attempt failed for another reason than those that the system gives. */
    private boolean failing;
    /** An upper bound of how many connections were accepted since the close was requested. */
    private int drained;

    /** Whether it was reported that there is not even a spare descriptor. */
    private boolean toldLack;

    private final SpareDescriptor spare = new SpareDescriptor();
    /** Created beforehand: there may be no memory for it when it is needed. */
    private final AlarmCallback retry = this::retry;

    SocketAcceptor(
            ReactorServerLoop loop,
            StreamListener listener,
            Consumer<ByteStream> accepted,
            Consumer<IOException> failed) {
        this.loop = loop;
        this.listener = listener;
        this.accepted = accepted;
        this.failed = failed;
    }

    /**
     * Starts to accept. Any thread; does not wait for the reactor, whose thread may be blocked or waiting for the
     * calling one. If it fails, the listener is closed.
     *
     * @throws RejectedExecutionException if the reactor has ended, or is in its last turn
     */
    void begin() {
        boolean registered = false;
        try {
            loop.reactor.register(listener, 0, this, Interest.READABLE, Trigger.EDGE);
            registered = true;
        } catch (IllegalStateException e) {
            throw loop.reactor.hasFinished() ? ended(e) : e;
        } finally {
            if (!registered) {
                stop(); // no other code knows the listener
            }
        }
        // If this task is accepted after the registration, the last turn is still to come and will find the listener.
        // If it is refused, the last turn may have missed it.
        try {
            loop.reactor.execute(SocketAcceptor::doNothing);
        } catch (RejectedExecutionException e) {
            loop.reactor.executeAlways(this::onReactorEnd, Priority.SYSTEM);
            throw ended(e);
        }
    }

    private static void doNothing() {
        // What matters is only whether the task was accepted.
    }

    private static RejectedExecutionException ended(RuntimeException cause) {
        return new RejectedExecutionException("cannot listen: the event manager has shut down", cause);
    }

    @Override
    public void onReady(int bits) {
        if (!queued) {
            queued = true;
            loop.reactor.add(this, Priority.NORMAL);
        }
    }

    @Override
    public void run() {
        queued = false;
        if (closed || waiting) {
            return;
        }
        boolean more;
        try {
            more = accept(ACCEPTS);
        } catch (Throwable e) {
            tryAgain(); // no further edge announces those that wait
            if (!failing) { // a full heap is full for many attempts
                failing = true;
                throw e;
            }
            return;
        }
        failing = false;
        if (more) {
            onReady(0);
        }
    }

    private void tryAgain() {
        try {
            retryLater();
        } catch (Throwable e) {
            Insistence.pause(PAUSE_NANOS);
            onReady(0);
        }
    }

    /**
     * Accepts up to {@code atMost} connections. Returns false if none is waiting or it has to wait, true if the number
     * was reached.
     */
    private boolean accept(int atMost) {
        try {
            for (int i = 0; i < atMost; i++) {
                ByteStream stream = next();
                if (stream == null) {
                    return false;
                }
                tell(stream);
            }
            return true;
        } catch (ClosedChannelException e) {
            return false; // closed from outside: see cutOff
        } catch (IOException e) {
            if (closed) {
                return false;
            }
            onAcceptFailure(e);
            return false;
        }
    }

    /** Overridden by a test. */
    @Nullable
    ByteStream next() throws IOException {
        return listener.accept();
    }

    private void onAcceptFailure(IOException cause) {
        if (SpareDescriptor.isLacking(cause)) {
            SpareDescriptor.Outcome outcome = spare.turnAway(listener);
            if (outcome == SpareDescriptor.Outcome.NOBODY) {
                return; // the next connection causes an edge
            }
            boolean told = toldLack;
            toldLack = outcome == SpareDescriptor.Outcome.NOT_TO_BE_HAD;
            if (!(told && toldLack)) {
                failed.accept(cause);
            }
        } else {
            failed.accept(cause);
        }
        retryLater();
    }

    /**
     * Passes a connection on. If that fails, the next ones are still accepted, because no further edge would announce
     * them.
     */
    private void tell(ByteStream stream) {
        try {
            accepted.accept(stream);
        } catch (Throwable e) {
            FailureLog.report(stream, e);
            stream.close();
        }
        loop.reactor.clearInterrupt(); // left by this connection's handler; another handler may run in the same turn
    }

    private void retryLater() {
        if (!waiting) {
            loop.schedule(RETRY_NANOS, retry);
            waiting = true; // not if there was no memory for the alarm
        }
    }

    private void retry(boolean fired) {
        waiting = false;
        if (fired) {
            run();
        }
    }

    @Override
    public boolean drain() {
        if (closed || waiting || drained >= DRAINED) {
            return false;
        }
        drained += ACCEPTS;
        return queued || accept(ACCEPTS); // if it is queued, it has already accepted its share of this turn
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        // Connections that wait would be reset when the listener is closed. To avoid accepting all of them in one turn,
        // call drain() first.
        try {
            accept(drained == 0 ? DRAINED : ACCEPTS);
        } finally {
            stop();
        }
    }

    @Override
    public void release() {
        if (!closed) {
            stop();
        }
    }

    private void stop() {
        closed = true;
        listener.close();
        spare.close();
    }

    @Override
    public void onReactorEnd() {
        if (!closed) {
            stop();
        }
    }

    /**
     * On NIO, where only the poll's own thread can remove the listener, new connections may wait in the kernel until it
     * does. A socket that another process has, too, goes on listening for that one.
     */
    @Override
    public void cutOff() {
        if (listener.handle() instanceof KernelHandle handle
                && handle.system() instanceof Descriptor descriptor
                && !descriptor.isShared()
                && descriptor.acquire()) {
            try {
                Sockets.shutdownInput(descriptor.fd());
            } catch (IOException e) {
                // A system that cannot shut down a listener.
            } finally {
                descriptor.release();
            }
        }
        listener.close();
    }

    @Override
    public String toString() {
        return "accepting on " + listener;
    }
}
