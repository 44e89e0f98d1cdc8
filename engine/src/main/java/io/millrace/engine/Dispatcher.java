package io.millrace.engine;

import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.internal.Threads;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Who calls the handler of a source that is ready: see {@link Dispatch}. */
sealed interface Dispatcher {
    /** On the reactor's thread, or a handler's that has more to do: has {@link HandlerRegistration#handle} called once. */
    void dispatch(HandlerRegistration source);

    /** Ends its threads, after what they were given: completes when they have ended. */
    default CompletableFuture<Void> close() {
        return CompletableFuture.completedFuture(null);
    }

    /** The calling thread, which is the reactor's. */
    record OnLoop() implements Dispatcher {
        @Override
        public void dispatch(HandlerRegistration source) {
            source.handle();
        }
    }

    /** A virtual thread for each source that has become ready. */
    final class OnVirtualThreads implements Dispatcher {
        /** How many there are, and one more until it is closed. */
        private final AtomicLong present = new AtomicLong(1);

        private final CompletableFuture<Void> gone = new CompletableFuture<>();
        private final AtomicBoolean closed = new AtomicBoolean();

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
                Thread.ofVirtual().name("millrace-handler").start(call);
            } catch (OutOfMemoryError e) {
                call.run(); // here, rather than never
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

    /** Threads, each with a queue of its own, taken in turn. A source that is in flight is in one of the queues once, so its order is kept. */
    final class OnPool implements Dispatcher {
        private final Worker[] workers;
        private final AtomicInteger left;
        private final CompletableFuture<Void> gone = new CompletableFuture<>();
        /** The reactor's thread writes it, and a handler's may: an imbalance is all that can come of that. */
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
                    workers[i].queue.add(workers[i]::stop); // no more threads to be had: leave none behind
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
            private final BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
            private final Thread thread;
            /** The worker's thread only. */
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
                        // Not from us: a handler's own. It must not end the worker.
                    } catch (Throwable e) {
                        FailureLog.report("a worker's task", e);
                    }
                }
                leave();
            }
        }
    }
}
