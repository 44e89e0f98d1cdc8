package io.millrace.server;

import io.millrace.engine.Dispatch;
import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.internal.Threads;
import io.millrace.engine.pool.ObjectPool;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Where the callbacks of a server's connections run: see {@link Dispatch}. */
sealed interface CallbackExecutor extends AutoCloseable {
    /** What bytes travel in to where callbacks run, if that is not the loop. */
    ObjectPool<ByteBuffer> buffers();

    /**
     * For one connection: runs what it is given, one after the other.
     *
     * @return null if they run on the connection's loop, in the middle of what it does: that is in order anyway
     */
    @Nullable
    SerialExecutor serial(long id);

    /** Whether the calling thread is in one of them, off the loop. */
    boolean isInside();

    /** Lets their threads end, after what they were given. Does not wait. */
    @Override
    void close();

    static CallbackExecutor of(String name, ServerSettings settings) {
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
                        buffers);
            case VIRTUAL -> new OnThreads(List.of(Executors.newVirtualThreadPerTaskExecutor()), buffers);
        };
    }

    /** Threads that run already: a system that has none left says so now, and not in the first callback. */
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

    /** On the loop. */
    record OnLoop(ObjectPool<ByteBuffer> buffers) implements CallbackExecutor {
        @Override
        public @Nullable SerialExecutor serial(long id) {
            return null;
        }

        @Override
        public boolean isInside() {
            return false;
        }

        @Override
        public void close() {}
    }

    /** On threads of ours, each connection always on the same; or on virtual ones. */
    record OnThreads(List<ExecutorService> threads, ObjectPool<ByteBuffer> buffers) implements CallbackExecutor {
        /** Whose callback the thread is in. */
        private static final ThreadLocal<OnThreads> INSIDE = new ThreadLocal<>();

        @Override
        public SerialExecutor serial(long id) {
            ExecutorService thread = threads.get((int) (id % threads.size()));
            return new SerialExecutor(drain -> thread.execute(() -> {
                INSIDE.set(this);
                try {
                    drain.run();
                } finally {
                    INSIDE.remove();
                }
            }));
        }

        @Override
        @SuppressWarnings("ReferenceEquality") // identity is what is meant
        public boolean isInside() {
            return INSIDE.get() == this;
        }

        @Override
        public void close() {
            threads.forEach(ExecutorService::shutdown);
        }
    }
}
