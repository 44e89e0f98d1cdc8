package io.millrace.netty;

import io.millrace.engine.Reactors;
import io.millrace.engine.transport.ReactorServerLoop;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.engine.transport.TransportAccess;
import io.millrace.poll.internal.PollAccess;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * One {@link ReactorEventLoop} for each reactor. It is one of Netty's own groups, because libraries ask for that; it has
 * no threads.
 */
final class ReactorEventLoopGroup extends MultiThreadIoEventLoopGroup {
    private static final Executor NO_THREADS = task -> {
        throw new IllegalStateException("the loops of this group run on reactors");
    };
    private static final IoHandlerFactory NO_HANDLERS = executor -> {
        throw new IllegalStateException("the loops of this group run on reactors");
    };

    private ReactorEventLoopGroup(Reactors reactors, Queue<ReactorServerLoop> loops) {
        super(loops.size(), NO_THREADS, NO_HANDLERS, reactors, loops);
    }

    static ReactorEventLoopGroup on(Reactors reactors) {
        List<? extends ServerLoop> loops = TransportAccess.get().loops(reactors);
        Queue<ReactorServerLoop> ours = new ArrayDeque<>();
        for (ServerLoop each : loops) {
            ReactorServerLoop loop = (ReactorServerLoop) each;
            if (PollAccess.get().takesChannels(loop.poll())) {
                throw new IllegalStateException("Netty's channels need a backend with descriptors, and " + reactors
                        + " has none: " + reactors.report() + "; allow a better one as it says, or use Netty's"
                        + " NioIoHandler beside the reactors");
            }
            ours.add(loop);
        }
        try {
            return new ReactorEventLoopGroup(reactors, ours);
        } catch (IllegalStateException e) {
            // Netty's own exception says only that it could not make a loop.
            throw e.getCause() instanceof RejectedExecutionException ended ? ended : e;
        }
    }

    @Override
    protected IoEventLoop newChild(Executor executor, IoHandlerFactory factory, Object... arguments) {
        Queue<?> loops = (Queue<?>) arguments[1];
        return ReactorEventLoop.start(this, (Reactors) arguments[0], (ReactorServerLoop) loops.remove());
    }
}
