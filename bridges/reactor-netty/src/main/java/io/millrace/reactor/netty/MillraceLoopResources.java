package io.millrace.reactor.netty;

import io.millrace.engine.Reactors;
import io.millrace.netty.Millrace;
import io.millrace.netty.MillraceDatagramChannel;
import io.millrace.netty.MillraceServerSocketChannel;
import io.millrace.netty.MillraceSocketChannel;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;
import reactor.netty.FutureMono;
import reactor.netty.resources.LoopResources;

/**
 * Reactor Netty's loops and channels on Millrace: for {@code runOn} of its servers and clients, or for Spring's {@code
 * ReactorResourceFactory}.
 *
 * {@snippet :
 * LoopResources loops = MillraceLoopResources.on(reactors);
 * DisposableServer server = HttpServer.create().runOn(loops).handle(handler).bindNow();
 * HttpClient client = HttpClient.create().runOn(loops);
 * }
 *
 * <p>As with Reactor Netty's own, a client's connection that is made on a loop stays on it, and {@code block()} on a
 * loop's thread is refused.
 *
 * <p>Any thread may call every method here. Nothing here blocks, but {@link #dispose} neither waits: use {@link
 * #disposeLater} for that.
 *
 * <h2>Portability</h2>
 * Needs a backend with descriptors: epoll, kqueue or poll(2). Where there is none, the factory methods throw with the
 * reason; use {@code LoopResources.create} there.
 */
public final class MillraceLoopResources implements LoopResources {
    private final EventLoopGroup group;
    private final EventLoopGroup clients;
    private final boolean daemon;

    private MillraceLoopResources(EventLoopGroup group, boolean daemon) {
        this.group = group;
        this.clients = LoopResources.colocate(group);
        this.daemon = daemon;
        NonBlockingThreads.add(group);
    }

    /**
     * Returns loops that are reactors: one for each. Disposing of them leaves the reactors running; when those end, the
     * connections are closed.
     *
     * @param reactors must outlive what runs on them
     * @return the same loops for servers and clients
     * @throws IllegalStateException if the reactors run on NIO
     */
    public static MillraceLoopResources on(Reactors reactors) {
        Objects.requireNonNull(reactors, "reactors");
        return new MillraceLoopResources(Millrace.groupOn(reactors), true);
    }

    /**
     * Returns loops with threads of their own, each with a poll.
     *
     * @param prefix of the threads' names
     * @param threads how many
     * @param daemon whether the program may end while they run
     * @return the same loops for servers and clients
     * @throws IllegalStateException if there is no backend with descriptors
     */
    public static MillraceLoopResources create(String prefix, int threads, boolean daemon) {
        return new MillraceLoopResources(
                new MultiThreadIoEventLoopGroup(
                        threads, new LoopThread.Factory(prefix, daemon), Millrace.ioHandlerFactory()),
                daemon);
    }

    @Override
    public boolean daemon() {
        return daemon;
    }

    /**
     * {@inheritDoc}
     *
     * @param useNative has no effect
     */
    @Override
    public EventLoopGroup onServer(boolean useNative) {
        return group;
    }

    /**
     * {@inheritDoc}
     *
     * @param useNative has no effect
     */
    @Override
    public EventLoopGroup onClient(boolean useNative) {
        return clients;
    }

    @Override
    public <C extends Channel> C onChannel(Class<C> type, EventLoopGroup loops) {
        return type.cast(ChannelType.of(type).factory.get());
    }

    @Override
    public <C extends Channel> Class<? extends C> onChannelClass(Class<C> type, EventLoopGroup loops) {
        return ChannelType.of(type).ours.asSubclass(type);
    }

    /**
     * @param asked by Reactor Netty
     * @param ours what it gets
     * @param factory of that
     */
    private record ChannelType(
            Class<? extends Channel> asked, Class<? extends Channel> ours, Supplier<? extends Channel> factory) {
        private static final List<ChannelType> ALL = List.of(
                new ChannelType(SocketChannel.class, MillraceSocketChannel.class, MillraceSocketChannel::new),
                new ChannelType(
                        ServerSocketChannel.class, MillraceServerSocketChannel.class, MillraceServerSocketChannel::new),
                new ChannelType(DatagramChannel.class, MillraceDatagramChannel.class, MillraceDatagramChannel::new));

        static ChannelType of(Class<? extends Channel> asked) {
            for (ChannelType each : ALL) {
                if (each.asked.equals(asked)) {
                    return each;
                }
            }
            throw new IllegalArgumentException("there is no " + asked.getSimpleName()
                    + " of Millrace for Reactor Netty; it has TCP and UDP, as with NIO. For Unix sockets, use Netty's"
                    + " bootstraps with MillraceDomainSocketChannel, or Reactor Netty's native transports");
        }
    }

    @Override
    public boolean isDisposed() {
        return group.isShuttingDown();
    }

    @Override
    public Mono<Void> disposeLater(Duration quietPeriod, Duration timeout) {
        return Mono.defer(() -> FutureMono.from(shutdown(quietPeriod, timeout)));
    }

    @SuppressWarnings("unchecked") // it has no result
    private Future<Void> shutdown(Duration quietPeriod, Duration timeout) {
        return (Future<Void>)
                group.shutdownGracefully(quietPeriod.toMillis(), timeout.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public String toString() {
        return "Reactor Netty on " + group;
    }
}
