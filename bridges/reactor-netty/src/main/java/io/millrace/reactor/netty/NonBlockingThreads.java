package io.millrace.reactor.netty;

import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.scheduler.Schedulers;

/**
 * Tells Reactor which threads must not block. Those that it makes have a marker; a reactor's thread cannot have it, so
 * Reactor asks here. A {@code block()} on a loop would wait for what only that loop can do.
 */
final class NonBlockingThreads {
    private static final Set<EventLoopGroup> RUNNING = ConcurrentHashMap.newKeySet();

    static {
        Schedulers.registerNonBlockingThreadPredicate(NonBlockingThreads::isLoop);
    }

    private NonBlockingThreads() {}

    /** Until it has ended. */
    static void add(EventLoopGroup group) {
        RUNNING.add(group);
        var ignored = group.terminationFuture().addListener(ended -> RUNNING.remove(group));
    }

    private static boolean isLoop(Thread thread) {
        for (EventLoopGroup group : RUNNING) {
            for (EventExecutor loop : group) {
                if (loop.inEventLoop(thread)) {
                    return true;
                }
            }
        }
        return false;
    }
}
