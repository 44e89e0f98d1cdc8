package io.millrace.server.loop;

import io.millrace.engine.AcceptDescriptor;
import io.millrace.engine.AlarmCallback;
import io.millrace.engine.AlarmKey;
import io.millrace.engine.EventManager;
import io.millrace.engine.Priority;
import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.internal.SpareDescriptor;
import io.millrace.engine.transport.Acceptor;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.engine.transport.StreamTransport;
import io.millrace.engine.transport.TransportSink;
import io.millrace.net.ByteStream;
import io.millrace.net.Net;
import io.millrace.net.StreamListener;
import io.millrace.server.connection.SerialExecutor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A server loop on an event manager other than {@code Reactors}, of which it uses only the public interface (grpc-16).
 * Such a manager may have any number of threads and call from any of them, so everything that belongs to the loop goes
 * through one {@link SerialExecutor}; each task of that executor is a turn. This class has what does not depend on how
 * a manager moves bytes: turns, alarms, listeners, and the end of everything on the loop.
 */
public abstract sealed class ManagerServerLoop implements ServerLoop
        permits ReadinessManagerLoop, CompletionManagerLoop {
    /** As far ahead as deadlines compared by subtraction allow: 36 years. */
    private static final long NEVER_NANOS = Long.MAX_VALUE / 8;

    private static final ThreadLocal<@Nullable ManagerServerLoop> CURRENT = new ThreadLocal<>();

    private final EventManager manager;
    private final SerialExecutor turns;
    private final ArrayDeque<Runnable> endOfTurn = new ArrayDeque<>();
    /**
     * Connections to be ended. They run in the current turn, because a manager that is shutting down might refuse
     * another one.
     */
    private final ArrayDeque<Runnable> costly = new ArrayDeque<>();

    private volatile @Nullable Thread running;
    /** How to end each connection and listener on this loop, by identity. Used on the loop only. */
    private final Set<Runnable> carried = new LinkedHashSet<>();

    private @Nullable AlarmKey sentinel;
    /** How many servers and clients use this loop. */
    private final AtomicInteger users = new AtomicInteger(1);

    ManagerServerLoop(EventManager manager) {
        this.manager = manager;
        this.turns = new SerialExecutor(manager);
    }

    @Override
    public Net net() {
        return Net.standard();
    }

    @Override
    public String backend() {
        return "of " + manager;
    }

    @Override
    public String toString() {
        return "a loop of " + manager;
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // threads are compared by identity
    public boolean inLoop() {
        return running == Thread.currentThread();
    }

    @Override
    public long now() {
        return manager.clock().nanoTime();
    }

    @Override
    public long nanoTime() {
        return manager.clock().nanoTime();
    }

    /** Used by one turn at a time. Created at the first use. */
    private @Nullable ByteBuffer output;

    @Override
    public ByteBuffer output() {
        ByteBuffer present = output;
        if (present == null) {
            present = ByteBuffer.allocateDirect(64 * 1024);
            output = present;
        }
        return present;
    }

    @Override
    public void execute(Runnable task) {
        turns.execute(() -> runTurn(task));
    }

    private void runTurn(Runnable task) {
        running = Thread.currentThread();
        ManagerServerLoop outer = CURRENT.get();
        CURRENT.set(this);
        try {
            runSafely(task);
            for (int left = endOfTurn.size(); left > 0; left--) {
                Runnable next = endOfTurn.poll();
                if (next != null) {
                    runSafely(next);
                }
            }
            for (Runnable next = costly.poll(); next != null; next = costly.poll()) {
                runSafely(next);
            }
            if (!endOfTurn.isEmpty()) {
                execute(() -> {});
            }
        } finally {
            CURRENT.set(outer);
            running = null;
        }
    }

    private static void runSafely(Runnable task) {
        try {
            task.run();
        } catch (Throwable e) {
            FailureLog.report(task, e);
        }
    }

    // ---- The manager's end ----

    /**
     * Remembers how to end something on this loop when the manager ends. A manager does not announce its end, but it
     * calls every pending alarm with false. So as long as there is something to end, an alarm is pending for a time
     * that never comes.
     */
    final void carry(Runnable end) {
        carried.add(end);
        if (sentinel == null) {
            sentinel = manager.schedule(
                    manager.clock().nanoTime() + NEVER_NANOS,
                    fired -> {
                        if (!fired && users.get() > 0) {
                            execute(this::endCarried);
                        }
                    },
                    Priority.LOW);
        }
    }

    final void carryNoMore(Runnable end) {
        carried.remove(end);
    }

    /** Ends everything on this loop, because the manager ends (end-2). */
    private void endCarried() {
        while (!carried.isEmpty()) {
            Runnable end = carried.iterator().next();
            carried.remove(end);
            runSafely(end);
        }
    }

    /** Returns the loop whose turn the calling thread is running, or null. */
    public static @Nullable ManagerServerLoop current() {
        return CURRENT.get();
    }

    @SuppressWarnings("ReferenceEquality") // a manager is itself
    public boolean sharesManager(ManagerServerLoop other) {
        return manager == other.manager;
    }

    /** Adds a server or client to those that use this loop, unless it was released. If true, {@link #release} must follow. Any thread. */
    public boolean tryRetain() {
        return users.getAndUpdate(count -> count == 0 ? 0 : count + 1) > 0;
    }

    /** Called when a user has nothing left on this loop and will add nothing. The last one cancels the sentinel alarm. Any thread. */
    public void release() {
        if (users.decrementAndGet() > 0) {
            return;
        }
        execute(() -> {
            AlarmKey alarm = sentinel;
            if (alarm != null) {
                manager.cancel(alarm);
            }
        });
    }

    /**
     * An alarm of the manager whose callback runs in a turn. The manager has done its part when it has handed the alarm over
     * to the loop; if the loop cancels it before that turn has come, the callback must not believe that it has fired.
     */
    private final class TurnAlarm implements AlarmKey, AlarmCallback {
        private final AlarmCallback callback;
        private final AtomicBoolean told = new AtomicBoolean();
        private volatile @Nullable AlarmKey key;

        TurnAlarm(AlarmCallback callback) {
            this.callback = callback;
        }

        @Override
        public void onAlarm(boolean fired) {
            if (!fired && inLoop()) {
                tell(false);
            } else {
                execute(() -> tell(fired));
            }
        }

        private void tell(boolean fired) {
            if (told.compareAndSet(false, true)) {
                callback.onAlarm(fired);
            }
        }

        void cancel() {
            AlarmKey pending = key;
            if (told.compareAndSet(false, true)) {
                if (pending != null) {
                    manager.cancel(pending);
                }
                if (inLoop()) {
                    callback.onAlarm(false);
                } else {
                    execute(() -> callback.onAlarm(false));
                }
            }
        }
    }

    @Override
    public AlarmKey schedule(long delayNanos, AlarmCallback callback) {
        TurnAlarm alarm = new TurnAlarm(callback);
        alarm.key = manager.schedule(manager.clock().nanoTime() + delayNanos, alarm, Priority.NORMAL);
        return alarm;
    }

    /** Not supported: an alarm of a manager fires once. */
    @Override
    public boolean rearm(AlarmKey key, long delayNanos) {
        return false;
    }

    @Override
    public void cancel(AlarmKey key) {
        ((TurnAlarm) key).cancel();
    }

    @Override
    public void atEndOfTurn(Runnable what) {
        endOfTurn.add(what);
    }

    /**
     * Runs all of them in the current turn, which is one task of the manager; it can serve others between two tasks.
     */
    @Override
    public void runSoon(Runnable what) {
        costly.add(what);
    }

    @Override
    public boolean sharesBuffer() {
        return false;
    }

    @Override
    public final StreamTransport attach(ByteStream stream, TransportSink sink, int bufferSize) {
        DescriptorTransport transport = transport(stream, sink, bufferSize);
        transport.start();
        carry(transport.end);
        return transport;
    }

    /** Creates a connection that is not started. On the loop. */
    abstract DescriptorTransport transport(ByteStream stream, TransportSink sink, int bufferSize);

    /** Watches a listener for waiting connections. Any thread. */
    abstract AcceptDescriptor watch(StreamListener listener);

    @Override
    public Acceptor accept(StreamListener listener, Consumer<ByteStream> accepted, Consumer<IOException> failed) {
        DescriptorAcceptor acceptor;
        try {
            acceptor = new DescriptorAcceptor(watch(listener), listener, accepted, failed);
        } catch (Throwable e) {
            listener.close();
            throw e;
        }
        execute(acceptor::begin);
        return acceptor;
    }

    /** Accepts until would-block, then asks for the next notification. */
    private final class DescriptorAcceptor implements Acceptor {
        private static final long RETRY_NANOS = 50_000_000;

        private final Runnable end = this::stop;
        private boolean closed;
        private final SpareDescriptor spare = new SpareDescriptor();

        private final AcceptDescriptor descriptor;
        private final StreamListener listener;
        private final Consumer<ByteStream> accepted;
        private final Consumer<IOException> failed;

        DescriptorAcceptor(
                AcceptDescriptor descriptor,
                StreamListener listener,
                Consumer<ByteStream> accepted,
                Consumer<IOException> failed) {
            this.descriptor = descriptor;
            this.listener = listener;
            this.accepted = accepted;
            this.failed = failed;
        }

        /** Starts accepting, on the loop. If the manager has ended meanwhile, stops at once. */
        void begin() {
            boolean carries = false;
            try {
                carry(end);
                arm();
                carries = true;
            } catch (RejectedExecutionException e) {
                // The manager has ended since the listener was registered.
            } finally {
                if (!carries) {
                    stop();
                }
            }
        }

        private void arm() {
            try {
                descriptor.notifyWhenAcceptable(() -> execute(this::accept));
            } catch (IllegalStateException e) {
                if (!descriptor.isClosed()) {
                    throw e;
                }
                // The manager is ending, and with it everything on this loop.
            }
        }

        private void accept() {
            if (closed) {
                return;
            }
            try {
                acceptAll();
                arm();
            } catch (ClosedChannelException e) {
                stop(); // closed from outside: see cutOff
            } catch (IOException e) {
                if (!descriptor.isClosed()) {
                    if (SpareDescriptor.isLacking(e) && spare.turnAway(listener) == SpareDescriptor.Outcome.NOBODY) {
                        arm();
                        return;
                    }
                    failed.accept(e);
                    schedule(RETRY_NANOS, fired -> {
                        if (fired) {
                            accept();
                        }
                    });
                }
            }
        }

        private void acceptAll() throws IOException {
            for (ByteStream stream = listener.accept(); stream != null; stream = listener.accept()) {
                try {
                    accepted.accept(stream);
                } catch (Throwable e) {
                    FailureLog.report(stream, e);
                    stream.close();
                }
            }
        }

        @Override
        public void close() {
            if (closed) {
                return;
            }
            try {
                acceptAll(); // connections that wait would be reset when the listener is closed
            } catch (ClosedChannelException e) {
                // Closed from outside: see cutOff.
            } catch (IOException e) {
                failed.accept(e);
            }
            stop();
        }

        @Override
        public void release() {
            stop();
        }

        private void stop() {
            if (!closed) {
                closed = true;
                carried.remove(end);
                spare.close();
                try {
                    descriptor.close();
                } finally {
                    listener.close();
                }
            }
        }

        @Override
        public void cutOff() {
            listener.close();
        }
    }

    /** A connection on a descriptor of the manager. */
    abstract class DescriptorTransport implements StreamTransport {
        private final Runnable end = this::onManagerEnd;
        final ByteStream stream;
        final TransportSink sink;
        final ByteBuffer buffer;
        boolean connecting;
        boolean paused;
        /** Whether a read, or a notification for one, is in progress. */
        boolean reading;
        /** Whether a send was refused, so that {@link TransportSink#onWritable} has to be called. */
        boolean full;
        /** Whether the peer sends no more. */
        boolean ended;

        private boolean failed;
        private boolean closed;

        DescriptorTransport(ByteStream stream, TransportSink sink, int bufferSize) {
            this.stream = stream;
            this.sink = sink;
            this.buffer = ByteBuffer.allocate(bufferSize);
            this.connecting = !stream.isConnected();
        }

        /** Starts to read, or to wait until it is connected. */
        abstract void start();

        /** Closes the descriptor, and with it the stream. */
        abstract void closeDescriptor();

        /** Checks how the connect ended. On the loop. */
        final boolean finishConnect() {
            try {
                if (!stream.finishConnect()) {
                    return false;
                }
            } catch (IOException e) {
                fail(e);
                return true;
            }
            connecting = false;
            sink.onConnected();
            return true;
        }

        /** Looks into the socket: a manager tells of what arrives only when it is asked, or later. */
        final boolean isInputInSocket() {
            try {
                return stream.isConnected() && stream.mayHaveInput();
            } catch (IOException e) {
                return false; // closed or broken, which a read reports
            }
        }

        private void onManagerEnd() {
            if (!closed) {
                try {
                    sink.onLoopEnd();
                } finally {
                    close();
                }
            }
        }

        /** Closes after the sink was told, which decides whether the peer sees an end or a reset. */
        final void fail(IOException cause) {
            if (!closed && !failed) {
                failed = true;
                try {
                    sink.onFailed(cause);
                } finally {
                    close();
                }
            }
        }

        @Override
        public final void closeOutput() {
            try {
                stream.shutdownOutput();
            } catch (IOException e) {
                // It is broken already, and a read will report that.
            }
        }

        @Override
        public final void pause() {
            paused = true;
        }

        @Override
        public final void close() {
            if (!closed) {
                closed = true;
                carryNoMore(end);
                closeDescriptor();
            }
        }

        @Override
        public final boolean isClosed() {
            return closed;
        }
    }
}
