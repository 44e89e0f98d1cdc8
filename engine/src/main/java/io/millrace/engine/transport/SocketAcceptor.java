package io.millrace.engine.transport;

import io.millrace.engine.Priority;
import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.internal.SpareDescriptor;
import io.millrace.engine.reactor.EventSink;
import io.millrace.engine.reactor.Reactor;
import io.millrace.net.TcpListener;
import io.millrace.net.TcpStream;
import io.millrace.poll.Interest;
import io.millrace.poll.Trigger;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Descriptor;
import io.millrace.sys.posix.Sockets;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * Accepts on a reactor: {@value Reactor#COSTLY} connections a turn, then the others get their turn.
 *
 * <p><b>Out of descriptors.</b> The edge that told of a connection is spent, and no new one comes for it. So a {@linkplain SpareDescriptor spare descriptor} is kept, with which the connection is turned away. Then
 * it waits for an alarm and tries on, until nobody waits any more. It never spins, and needs no new connection to recover (mill-11).
 */
final class SocketAcceptor implements EventSink, Runnable, Acceptor {
    private static final int ACCEPTS = Reactor.COSTLY;
    /** No system's queue holds more than these: who comes after so many came after the close. */
    private static final int DRAINED = 1 << 16;

    private static final long RETRY_NANOS = 50_000_000;

    private final ReactorServerLoop loop;
    private final TcpListener listener;
    private final Consumer<TcpStream> accepted;
    private final Consumer<IOException> failed;
    private boolean queued;
    private boolean waiting;
    private boolean closed;
    /** How many were accepted at most while it waits to be closed. */
    private int drained;

    /** There was not even the spare one, which was told. */
    private boolean toldLack;

    private final SpareDescriptor spare = new SpareDescriptor();

    SocketAcceptor(
            ReactorServerLoop loop, TcpListener listener, Consumer<TcpStream> accepted, Consumer<IOException> failed) {
        this.loop = loop;
        this.listener = listener;
        this.accepted = accepted;
        this.failed = failed;
    }

    /**
     * Accepts from now on. Any thread, without waiting for the reactor: its thread may be held up, or wait for the calling one. If it fails, the listener is closed.
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
                stop(); // nobody else knows of it
            }
        }
        // A task that is taken after the registration has the last turn still before it, which finds the listener. One
        // that is refused does not say whether it was found.
        try {
            loop.reactor.execute(SocketAcceptor::begun);
        } catch (RejectedExecutionException e) {
            loop.reactor.executeAlways(this::onReactorEnd, Priority.SYSTEM);
            throw ended(e);
        }
    }

    private static void begun() {
        // That it was taken is all that matters.
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
        if (!closed && !waiting && accept(ACCEPTS)) {
            onReady(0);
        }
    }

    /** False if there is nobody more, or it must wait; true if the number was reached. */
    private boolean accept(int atMost) {
        try {
            for (int i = 0; i < atMost; i++) {
                TcpStream stream = listener.accept();
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
            failed(e);
            return false;
        }
    }

    private void failed(IOException cause) {
        if (SpareDescriptor.isLacking(cause)) {
            SpareDescriptor.Outcome outcome = spare.turnAway(listener);
            if (outcome == SpareDescriptor.Outcome.NOBODY) {
                return; // The next one brings an edge.
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

    /** Whatever goes wrong with one connection, the next ones are accepted: no further edge would tell of them. */
    private void tell(TcpStream stream) {
        try {
            accepted.accept(stream);
        } catch (Throwable e) {
            stream.close();
            FailureLog.report("taking " + stream, e);
        }
        loop.reactor.clearInterrupt(); // of this one's handler: the next one's may come in the same turn
    }

    private void retryLater() {
        if (!waiting) {
            waiting = true;
            loop.schedule(RETRY_NANOS, fired -> {
                waiting = false;
                if (fired) {
                    run();
                }
            });
        }
    }

    @Override
    public boolean drain() {
        if (closed || waiting || drained >= DRAINED) {
            return false;
        }
        drained += ACCEPTS;
        return queued || accept(ACCEPTS); // if it is in the queue, it has accepted its share of this turn
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        // What has arrived would be reset by the close of the listener. Whoever does not want all of it in one turn has
        // drained it.
        accept(drained == 0 ? DRAINED : ACCEPTS);
        stop();
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

    /** Where the poll's own thread has to take the listener out, as on NIO, new connections may wait in the kernel until that gets to it. */
    @Override
    public void cutOff() {
        if (listener.handle() instanceof KernelHandle handle
                && handle.system() instanceof Descriptor descriptor
                && descriptor.acquire()) {
            try {
                Sockets.shutdownInput(descriptor.fd());
            } catch (IOException e) {
                // A system on which a listener cannot be shut down.
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
