package io.millrace.redis;

import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.millrace.engine.EventManager;
import io.millrace.engine.Reactors;
import io.millrace.netty.Millrace;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Where Lettuce runs: on the reactors of the backplane; or, where those have no descriptors for Netty, on threads of its own. */
final class Loops {
    private final @Nullable EventLoopGroup ours;
    private final ClientResources resources;
    private final EventManager manager;

    Loops(EventManager manager) {
        this.manager = manager;
        this.ours = manager instanceof Reactors reactors && takesNetty(reactors) ? Millrace.groupOn(reactors) : null;
        this.resources = ours == null ? DefaultClientResources.create() : on(ours, manager);
    }

    private static boolean takesNetty(Reactors reactors) {
        return !reactors.report().chosen().equals("nio");
    }

    private static ClientResources on(EventLoopGroup group, EventManager manager) {
        return DefaultClientResources.builder()
                .eventLoopGroupProvider(new Provider(group))
                .eventExecutorGroup(group)
                .timer(new AlarmTimer(manager))
                .addressResolverGroup(new OffLoopResolver())
                .commandLatencyRecorder(CommandLatencyRecorder.disabled())
                .build();
    }

    /** Null if Lettuce has its own. */
    @Nullable
    EventLoopGroup ours() {
        return ours;
    }

    ClientResources resources() {
        return resources;
    }

    /** Waits a little for its last turn, unless that would be the calling thread's; the reactors may end right after this. */
    void end() {
        var ignored = resources.shutdown(0, 1, TimeUnit.SECONDS);
        if (ours != null && !manager.isShutdown()) {
            Future<?> end = ours.shutdownGracefully(0, 1, TimeUnit.SECONDS);
            if (!manager.inManager()) {
                end.awaitUninterruptibly(2, TimeUnit.SECONDS);
            }
        }
    }

    /** Hands out one group, which ends with {@link #end}. */
    private record Provider(EventLoopGroup group) implements EventLoopGroupProvider {
        @Override
        @SuppressWarnings("unchecked") // Lettuce asks for the kind that its channels would need, and uses it as a group
        public <T extends EventLoopGroup> T allocate(Class<T> type) {
            return (T) group;
        }

        @Override
        public int threadPoolSize() {
            return 1;
        }

        @Override
        public Future<Boolean> release(EventExecutorGroup released, long quiet, long timeout, TimeUnit unit) {
            return ImmediateEventExecutor.INSTANCE.newSucceededFuture(true);
        }

        @Override
        public Future<Boolean> shutdown(long quiet, long timeout, TimeUnit unit) {
            return ImmediateEventExecutor.INSTANCE.newSucceededFuture(true);
        }
    }
}
