package io.millrace.server.connection;

import io.millrace.engine.Dispatch;
import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.internal.Threads;
import io.millrace.engine.pool.ObjectPool;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.engine.vthread.CarriedThread;
import io.millrace.engine.vthread.LoopThreads;
import io.millrace.engine.vthread.ThreadCarrier;
import io.millrace.server.support.ConnectionLog;
import io.millrace.server.support.ServerSettings;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Runs the callbacks of connections where the {@link Dispatch} says, and keeps those of one connection in order. */
public sealed interface ConnectionDispatcher extends AutoCloseable {
    /** Returns the pool of buffers in which received bytes travel to callbacks off the loop. */
    ObjectPool<ByteBuffer> buffers();

    /**
     * Returns an executor that runs the callbacks of one connection one after the other.
     *
     * @param loop the connection's; null if it has none yet
     * @return null if callbacks run directly on the connection's loop, which keeps the order anyway
     */
    @Nullable
    SerialExecutor serial(long id, @Nullable ServerLoop loop);

    /** Returns whether the calling thread is in one of these callbacks, off the loop. */
    boolean isInside();

    /** Ends the threads after the work they were given. Does not wait. */
    @Override
    void close();

    static ConnectionDispatcher of(String name, ServerSettings settings) {
        FailureLog.prepare();
        ConnectionLog.prepare();
        ObjectPool<ByteBuffer> buffers = ObjectPool.ofBuffers(settings.bufferSize(false), false);
        return switch (settings.dispatch) {
            case LOOP -> new OnLoop(buffers);
            case POOL ->
                new OnThreads(
                        pool(
                                name,
                                settings.workers,
                                Thread.ofPlatform()
                                        .daemon(true)
                                        .name(name + "-worker-", 0)
                                        .factory()),
                        buffers,
                        false);
            case VIRTUAL ->
                new OnThreads(List.of(Executors.newVirtualThreadPerTaskExecutor()), buffers, settings.loopThreads);
        };
    }

    /** Starts the threads right away, so that a system without threads to spare fails here and not in the first callback. */
    static List<ExecutorService> pool(String name, int workers, ThreadFactory factory) {
        List<ExecutorService> threads = new ArrayList<>();
        try {
            for (int i = 0; i < workers; i++) {
                ThreadPoolExecutor thread =
                        new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);
                threads.add(thread);
                if (!thread.prestartCoreThread()) {
                    throw new IllegalStateException(factory + " has no thread");
                }
            }
            return threads;
        } catch (Throwable e) {
            threads.forEach(ExecutorService::shutdownNow);
            throw Threads.tooFew(name, threads.size() - 1, workers, e);
        }
    }

    /** Runs callbacks on the loop. */
    record OnLoop(ObjectPool<ByteBuffer> buffers) implements ConnectionDispatcher {
        @Override
        public @Nullable SerialExecutor serial(long id, @Nullable ServerLoop loop) {
            return null;
        }

        @Override
        public boolean isInside() {
            return false;
        }

        @Override
        public void close() {}
    }

    /**
     * Runs callbacks on a pool, each connection always on the same thread, or on virtual threads.
     *
     * @param carried whether they are virtual threads on the connection's loop, if that carries any
     */
    record OnThreads(List<ExecutorService> threads, ObjectPool<ByteBuffer> buffers, boolean carried)
            implements ConnectionDispatcher {
        /** The dispatcher whose callback the current thread is running. */
        private static final ThreadLocal<OnThreads> INSIDE = new ThreadLocal<>();

        @Override
        public SerialExecutor serial(long id, @Nullable ServerLoop loop) {
            ThreadCarrier carrier = carried && loop != null ? loop.carrier() : null;
            Executor thread = carrier == null
                    ? atHome(loop, threads.get((int) (id % threads.size())))
                    : task -> new CarriedThread(carrier, "millrace-handler", task).startLater();
            return new SerialExecutor(drain -> thread.execute(() -> {
                INSIDE.set(this);
                try {
                    drain.run();
                } finally {
                    INSIDE.remove();
                }
            }));
        }

        /** What a callback waits for is watched by its connection's loop. */
        private static Executor atHome(@Nullable ServerLoop loop, Executor threads) {
            ThreadCarrier home = loop == null ? null : loop.home();
            return home == null ? threads : task -> threads.execute(LoopThreads.at(home, task));
        }

        @Override
        @SuppressWarnings("ReferenceEquality") // compares identity on purpose
        public boolean isInside() {
            return INSIDE.get() == this;
        }

        @Override
        public void close() {
            threads.forEach(ExecutorService::shutdown);
        }
    }
}
