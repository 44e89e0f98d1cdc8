package io.millrace.server;

import io.millrace.engine.AlarmCallback;
import io.millrace.engine.AlarmKey;
import io.millrace.engine.Priority;
import io.millrace.engine.ReadinessDescriptor;
import io.millrace.engine.ReadinessEventManager;
import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.internal.SpareDescriptor;
import io.millrace.engine.transport.Acceptor;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.engine.transport.StreamTransport;
import io.millrace.engine.transport.TransportHandler;
import io.millrace.net.ByteStream;
import io.millrace.net.FileSource;
import io.millrace.net.Io;
import io.millrace.net.Net;
import io.millrace.net.TcpListener;
import io.millrace.net.TcpStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A loop on a manager that is not ours, by its public face alone: descriptors that tell when they are ready (grpc-16). Such a manager may have any number of threads and
 * call from any of them; so all that belongs to the loop goes through one {@link SerialExecutor}, and a turn is one task of it.
 */
final class ManagerServerLoop implements ServerLoop {
    /** As far ahead as a clock that is compared by subtraction allows: 36 years. */
    private static final long NEVER_NANOS = Long.MAX_VALUE / 8;

    private final ReadinessEventManager manager;
    private final SerialExecutor turns;
    private final ArrayDeque<Runnable> endOfTurn = new ArrayDeque<>();
    /** Ends of connections, which must not wait for a turn that a manager in its end may refuse. */
    private final ArrayDeque<Runnable> costly = new ArrayDeque<>();

    private volatile @Nullable Thread running;
    /** How to end each thing that it carries, by identity. The loop's. */
    private final Set<Runnable> carried = new LinkedHashSet<>();

    private @Nullable AlarmKey sentinel;
    private volatile boolean released;

    ManagerServerLoop(ReadinessEventManager manager) {
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
    @SuppressWarnings("ReferenceEquality") // a thread is itself
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

    /** Of turns, one at a time: made at the first use. */
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
        turns.execute(() -> turn(task));
    }

    private void turn(Runnable task) {
        running = Thread.currentThread();
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
     * A manager tells nobody that it ends, but gives false to every alarm that is pending then. So one is pending for as long as this loop carries something, for a time that never comes.
     */
    private void carry(Runnable end) {
        carried.add(end);
        if (sentinel == null) {
            sentinel = manager.schedule(
                    manager.clock().nanoTime() + NEVER_NANOS,
                    fired -> {
                        if (!fired && !released) {
                            execute(this::managerEnds);
                        }
                    },
                    Priority.LOW);
        }
    }

    /** What it carries ends with it (end-2). */
    private void managerEnds() {
        while (!carried.isEmpty()) {
            Runnable end = carried.iterator().next();
            carried.remove(end);
            runSafely(end);
        }
    }

    /** A manager that ends closes its descriptors without telling their owner; then there is nothing more to ask for, and the end of what is carried follows. */
    private static void ask(ReadinessDescriptor descriptor, Runnable question) {
        try {
            question.run();
        } catch (IllegalStateException e) {
            if (!descriptor.isClosed()) {
                throw e;
            }
        }
    }

    /** Nothing is carried any more, and nothing will be. Any thread. */
    void release() {
        released = true;
        execute(() -> {
            AlarmKey alarm = sentinel;
            if (alarm != null) {
                manager.cancel(alarm);
            }
        });
    }

    @Override
    public AlarmKey schedule(long delayNanos, AlarmCallback callback) {
        return manager.schedule(
                manager.clock().nanoTime() + delayNanos,
                fired -> {
                    if (fired) {
                        execute(() -> callback.alarm(true));
                    } else if (inLoop()) {
                        callback.alarm(false);
                    } else {
                        execute(() -> callback.alarm(false));
                    }
                },
                Priority.NORMAL);
    }

    /** A manager's alarms fire once. */
    @Override
    public boolean again(AlarmKey key, long delayNanos) {
        return false;
    }

    @Override
    public void cancel(AlarmKey key) {
        manager.cancel(key);
    }

    @Override
    public void atEndOfTurn(Runnable what) {
        endOfTurn.add(what);
    }

    /** All of them in this turn, which is one task of the manager's: it serves others between two of those. */
    @Override
    public void soon(Runnable what) {
        costly.add(what);
    }

    @Override
    public boolean sharesBuffer() {
        return false;
    }

    @Override
    public StreamTransport attach(ByteStream stream, TransportHandler handler, int bufferSize) {
        Carrier carrier = new Carrier(stream, handler, bufferSize);
        carrier.start();
        carry(carrier.end);
        return carrier;
    }

    @Override
    public Acceptor accept(TcpListener listener, Consumer<TcpStream> accepted, Consumer<IOException> failed) {
        DescriptorAcceptor acceptor;
        try {
            acceptor = new DescriptorAcceptor(manager.register(listener), listener, accepted, failed);
        } catch (Throwable e) {
            listener.close();
            throw e;
        }
        execute(acceptor::begin);
        return acceptor;
    }

    /** Accepts until would-block, then asks to be told again. */
    private final class DescriptorAcceptor implements Acceptor {
        private static final long RETRY_NANOS = 50_000_000;

        private final Runnable end = this::stop;
        private boolean closed;
        private final SpareDescriptor spare = new SpareDescriptor();

        private final ReadinessDescriptor descriptor;
        private final TcpListener listener;
        private final Consumer<TcpStream> accepted;
        private final Consumer<IOException> failed;

        DescriptorAcceptor(
                ReadinessDescriptor descriptor,
                TcpListener listener,
                Consumer<TcpStream> accepted,
                Consumer<IOException> failed) {
            this.descriptor = descriptor;
            this.listener = listener;
            this.accepted = accepted;
            this.failed = failed;
        }

        /** On the loop. A manager that has ended meanwhile has this end too. */
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
            ask(descriptor, () -> descriptor.notifyWhenReadable(() -> execute(this::accept)));
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
            for (TcpStream stream = listener.accept(); stream != null; stream = listener.accept()) {
                try {
                    accepted.accept(stream);
                } catch (Throwable e) {
                    stream.close();
                    FailureLog.report("taking " + stream, e);
                }
            }
        }

        @Override
        public void close() {
            if (closed) {
                return;
            }
            try {
                acceptAll(); // what has arrived would be reset by the close of the listener
            } catch (ClosedChannelException e) {
                // Closed from outside: see cutOff.
            } catch (IOException e) {
                failed.accept(e);
            }
            stop();
        }

        private void stop() {
            if (!closed) {
                closed = true;
                carried.remove(end);
                spare.close();
                try {
                    manager.delete(descriptor);
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

    /** A connection on a descriptor: reads when it is told, and asks again. */
    private final class Carrier implements StreamTransport {
        /** How much of one connection is read before it is the others' turn. */
        private static final int READS = 16;

        private static final int READ_SHARE = 1 << 20;

        private final Runnable end = this::managerEnds;
        private final ByteStream stream;
        private final TransportHandler handler;
        private final ByteBuffer buffer;
        private final ReadinessDescriptor descriptor;
        private boolean connecting;
        private boolean paused;
        private boolean reading;
        private boolean full;
        private long share = FILE_SHARE;
        private boolean ended;
        private boolean closed;

        Carrier(ByteStream stream, TransportHandler handler, int bufferSize) {
            this.stream = stream;
            this.handler = handler;
            this.buffer = ByteBuffer.allocate(bufferSize);
            this.connecting = !stream.isConnected();
            this.descriptor = manager.register(stream);
        }

        void start() {
            if (connecting) {
                awaitConnect();
            } else {
                armRead();
            }
        }

        private void awaitConnect() {
            ask(descriptor, () -> descriptor.notifyWhenWritable(() -> execute(this::finishConnect)));
        }

        private void finishConnect() {
            if (closed) {
                return;
            }
            try {
                if (!stream.finishConnect()) {
                    awaitConnect();
                    return;
                }
            } catch (IOException e) {
                fail(e);
                return;
            }
            connecting = false;
            handler.connected();
            armRead();
        }

        private void armRead() {
            if (!closed && !paused && !ended && !reading && !descriptor.isClosed()) {
                reading = true;
                ask(descriptor, () -> descriptor.notifyWhenReadable(() -> execute(this::read)));
            }
        }

        private void read() {
            reading = false;
            if (drain()) {
                armRead();
            } else if (!closed && !paused && !ended) {
                reading = true;
                execute(this::read); // behind the others
            }
        }

        /** Reads what is there, up to a share; true if it came to its end, and would have to wait. */
        private boolean drain() {
            try {
                int share = READ_SHARE;
                for (int reads = 0; reads < READS && share > 0 && !closed && !paused; reads++) {
                    int got = stream.tryRead(buffer.clear());
                    if (got == Io.WOULD_BLOCK) {
                        return true;
                    }
                    if (got == Io.EOF) {
                        ended = true;
                        handler.endOfInput();
                        return false;
                    }
                    share -= got;
                    handler.received(buffer.flip());
                }
            } catch (IOException e) {
                fail(e);
            }
            return false;
        }

        private void managerEnds() {
            if (!closed) {
                try {
                    handler.loopEnds();
                } finally {
                    close();
                }
            }
        }

        private void fail(IOException cause) {
            if (!closed) {
                close();
                handler.failed(cause);
            }
        }

        @Override
        public boolean send(ByteBuffer[] buffers, int first, int count) throws IOException {
            for (int i = first; i < first + count; i++) {
                if (!send(buffers[i])) {
                    return false;
                }
            }
            return true;
        }

        @Override
        public boolean send(ByteBuffer buffer) throws IOException {
            while (!full && buffer.hasRemaining()) {
                if (stream.tryWrite(buffer) == Io.WOULD_BLOCK) {
                    armWrite();
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
                    armWrite();
                } else if (sent == Io.EOF && moved == 0) {
                    return Io.EOF;
                } else if (sent <= 0) {
                    // The share, or the end of the file, which the next call will tell.
                    full = true;
                    execute(this::writable);
                } else {
                    moved += sent;
                    share -= sent;
                }
            }
            return moved;
        }

        private void armWrite() {
            full = true;
            ask(descriptor, () -> descriptor.notifyWhenWritable(() -> execute(this::writable)));
        }

        private void writable() {
            full = false;
            share = FILE_SHARE;
            if (!closed) {
                handler.writable();
            }
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
            return paused && !ended;
        }

        @Override
        public void readNow() {
            if (!connecting && !ended) {
                drain(); // Whether it is armed does not change: it is told once more at most, and finds nothing.
            }
        }

        @Override
        public void pause() {
            paused = true;
        }

        @Override
        public void resume() {
            if (paused) {
                paused = false;
                // Not armed: there may be bytes that were there before, of which nobody tells again.
                if (!reading && !ended) {
                    reading = true;
                    execute(this::read);
                }
            }
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                carried.remove(end);
                try {
                    manager.delete(descriptor);
                } finally {
                    stream.close();
                }
            }
        }

        @Override
        public boolean isClosed() {
            return closed;
        }
    }
}
