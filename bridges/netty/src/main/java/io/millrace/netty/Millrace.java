package io.millrace.netty;

import io.millrace.engine.Reactors;
import io.millrace.poll.BackendReport;
import io.millrace.poll.Poll;
import io.millrace.poll.internal.PollAccess;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerFactory;
import io.netty.util.concurrent.ThreadAwareExecutor;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Netty 4.2 on Millrace.
 *
 * <p><b>Netty's threads, Millrace's waiting and sockets:</b>
 *
 * {@snippet :
 * EventLoopGroup group = new MultiThreadIoEventLoopGroup(Millrace.ioHandlerFactory());
 * new ServerBootstrap().group(group).channel(MillraceServerSocketChannel.class) // …
 * }
 *
 * <p><b>Millrace's threads:</b> Netty's channels on the reactors that also serve your {@code TcpServer}s, alarms and
 * tasks.
 *
 * {@snippet :
 * Reactors reactors = Reactors.open();
 * EventLoopGroup group = Millrace.groupOn(reactors);
 * new ServerBootstrap().group(group).channel(MillraceServerSocketChannel.class) // …
 * }
 *
 * <h2>Portability</h2>
 * Needs a backend with descriptors: epoll, kqueue or poll(2). On NIO, every method here throws with the reason; use
 * Netty's own {@code NioIoHandler} there.
 */
public final class Millrace {
    private Millrace() {}

    /**
     * Returns a factory for Netty's event loop groups. Each loop gets a poll of its own on the best backend, or the one
     * named by {@code -Dmillrace.backend=}.
     *
     * @return for {@code new MultiThreadIoEventLoopGroup(…)}
     */
    public static IoHandlerFactory ioHandlerFactory() {
        return new Factory(null);
    }

    /**
     * Returns a factory for Netty's event loop groups, on a particular backend.
     *
     * @param backend as in {@link Poll.Builder#backend}
     * @return for {@code new MultiThreadIoEventLoopGroup(…)}
     */
    public static IoHandlerFactory ioHandlerFactory(String backend) {
        return new Factory(Objects.requireNonNull(backend, "backend"));
    }

    /**
     * Makes a handler for each loop.
     *
     * @param backend null for the best
     */
    private record Factory(@Nullable String backend) implements IoHandlerFactory {
        @Override
        public IoHandler newHandler(ThreadAwareExecutor executor) {
            return new MillraceIoHandler(open(backend));
        }

        /** Nothing here is tied to a thread, so Netty may park a loop and go on with another thread. */
        @Override
        public boolean isChangingThreadSupported() {
            return true;
        }
    }

    /**
     * Tells whether these channels work here.
     *
     * @return false if {@link #unavailabilityCause} has a reason
     */
    public static boolean isAvailable() {
        return unavailabilityCause() == null;
    }

    /**
     * Opens a poll as a loop would, and closes it.
     *
     * @return why there is no backend with descriptors, and what to do about it; null if there is one
     */
    public static @Nullable Throwable unavailabilityCause() {
        try {
            open(null).close();
            return null;
        } catch (RuntimeException e) {
            return e;
        }
    }

    private static Poll open(@Nullable String backend) {
        Poll poll =
                backend == null ? Poll.open() : Poll.builder().backend(backend).open();
        if (PollAccess.get().takesChannels(poll)) {
            BackendReport report = poll.report();
            poll.close();
            throw new IllegalStateException("Netty's channels need a backend with descriptors, and this one has none: "
                    + report + "; allow a better one as it says, or use Netty's NioIoHandler");
        }
        return poll;
    }

    /**
     * Returns a group with one Netty event loop for each reactor, on the reactor's own thread. Netty's events, tasks and
     * timers are items of the reactor's run queue and alarms of its wheel; so the budget, the watchdog and the metrics
     * of the reactor include them.
     *
     * <p>Shutting the group down closes its channels and leaves the reactors running. When the reactors end, the
     * group ends with them: its channels are closed and their handlers are told.
     *
     * @param reactors running, on a backend with descriptors; must outlive the group, or end with it
     * @return a group for the channels of this package
     * @throws IllegalStateException if the reactors run on NIO
     * @throws java.util.concurrent.RejectedExecutionException if they have shut down
     */
    public static IoEventLoopGroup groupOn(Reactors reactors) {
        return ReactorEventLoopGroup.on(reactors);
    }
}
