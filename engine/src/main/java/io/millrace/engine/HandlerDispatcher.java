package io.millrace.engine;

import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.internal.Threads;
import io.millrace.engine.reactor.Reactor;
import io.millrace.engine.vthread.CarriedThread;
import io.millrace.engine.vthread.LoopThreads;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Runs the handlers of an {@link EventLoop} where its {@link Dispatch} says. The server has its own for the callbacks of connections, which have to stay in order: {@code ConnectionDispatcher}. */
sealed interface HandlerDispatcher {
    /** Has {@link HandlerRegistration#handle} called once. Called on the reactor's thread, or on a handler's thread that has more to do. */
    void dispatch(HandlerRegistration source);

    /** Ends the threads after the work they were given. The future completes when they have ended. */
    default CompletableFuture<Void> close() {
        return CompletableFuture.completedFuture(null);
    }

    /** Runs handlers on the calling thread, which is the reactor's. */
    record OnLoop() implements HandlerDispatcher {
        @Override
        public void dispatch(HandlerRegistration source) {
            source.handle();
        }
    }

    /** Starts a virtual thread for each source that has become ready: on the source's loop, if the JVM allows it. */
    final class OnVirtualThreads implements HandlerDispatcher {
        private final boolean onLoops;
        private static final String NAME = "millrace-handler";

        /** How many threads are running, plus one until the dispatcher is closed. */
        private final AtomicLong present = new AtomicLong(1);

        private final CompletableFuture<Void> gone = new CompletableFuture<>();
        private final AtomicBoolean closed = new AtomicBoolean();

        OnVirtualThreads(boolean loopThreads) {
            this.onLoops = loopThreads && LoopThreads.isAvailable();
        }

        @Override
        public void dispatch(HandlerRegistration source) {
            present.incrementAndGet();
            Runnable call = () -> {
                try {
                    source.handle();
                } finally {
                    leave();
                }
            };
            try {
                start(source.reactor, call);
            } catch (OutOfMemoryError e) {
                call.run(); // on this thread, rather than never
            }
        }

        /** Called on the reactor's thread, a thread that the reactor may carry runs within this call until it waits. */
        private void start(Reactor reactor, Runnable call) {
            if (onLoops) {
                new CarriedThread(reactor, NAME, call).start();
            } else {
                LoopThreads.elsewhere(NAME, LoopThreads.at(reactor, call)).start();
            }
        }

        private void leave() {
            if (present.decrementAndGet() == 0) {
                gone.complete(null);
            }
        }

        @Override
        public CompletableFuture<Void> close() {
            if (closed.compareAndSet(false, true)) {
                leave();
            }
            return gone;
        }
    }

    /** A fixed number of threads, each with its own queue, used in rotation. A source in flight is in one of the queues once, so its events stay in order. */
    final class OnPool implements HandlerDispatcher {
        private final Worker[] workers;
        private final AtomicInteger left;
        private final CompletableFuture<Void> gone = new CompletableFuture<>();
        /** Written by the reactor's thread and by handler threads without synchronization; a lost update only makes the rotation uneven. */
        private int next;

        OnPool(String name, int count) {
            workers = new Worker[count];
            left = new AtomicInteger(count);
            int started = 0;
            try {
                for (int i = 0; i < count; i++) {
                    workers[i] = new Worker(name + "-worker-" + i);
                    workers[i].thread.start();
                    started++;
                }
            } catch (Throwable e) {
                for (int i = 0; i < started; i++) {
                    workers[i].queue.add(workers[i]::stop); // out of threads: leave none behind
                }
                throw Threads.tooFew(name, started, count, e);
            }
        }

        @Override
        public void dispatch(HandlerRegistration source) {
            int turn = next;
            next = turn + 1 == workers.length ? 0 : turn + 1;
            workers[turn].queue.add(source.handling);
        }

        @Override
        public CompletableFuture<Void> close() {
            for (Worker worker : workers) {
                worker.queue.add(worker::stop);
            }
            return gone;
        }

        private void leave() {
            if (left.decrementAndGet() == 0) {
                gone.complete(null);
            }
        }

        private final class Worker {
            private static final Object WORK = "a worker's task";

            private final BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
            private final Thread thread;
            /** Accessed by the worker's thread only. */
            private boolean stopped;

            Worker(String name) {
                thread = Thread.ofPlatform().daemon(true).name(name).unstarted(this::work);
            }

            private void stop() {
                stopped = true;
            }

            private void work() {
                while (!stopped) {
                    try {
                        queue.take().run();
                    } catch (InterruptedException e) {
                        // Left behind by a handler; it must not end the worker.
                    } catch (Throwable e) {
                        FailureLog.report(WORK, e);
                    }
                }
                leave();
            }
        }
    }
}
