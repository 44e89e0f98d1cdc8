package io.millrace.reactor.netty;

import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.scheduler.NonBlocking;

/** A thread of a loop; Reactor refuses to block it. */
final class LoopThread extends FastThreadLocalThread implements NonBlocking {
    private LoopThread(Runnable loop, String name) {
        super(loop, name);
    }

    static final class Factory implements ThreadFactory {
        private final String prefix;
        private final boolean daemon;
        private final AtomicInteger count = new AtomicInteger();

        Factory(String prefix, boolean daemon) {
            this.prefix = prefix;
            this.daemon = daemon;
        }

        @Override
        public Thread newThread(Runnable loop) {
            Thread thread = new LoopThread(loop, prefix + "-millrace-" + count.incrementAndGet());
            thread.setDaemon(daemon);
            return thread;
        }
    }
}
