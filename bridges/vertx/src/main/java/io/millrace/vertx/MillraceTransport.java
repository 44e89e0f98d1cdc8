package io.millrace.vertx;

import io.millrace.engine.Reactors;
import io.millrace.netty.Millrace;
import io.vertx.core.transport.Transport;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Vert.x 5 on Millrace.
 *
 * <p><b>Vert.x's threads, Millrace's waiting and sockets.</b> This is what a program gets that has this library on its
 * class path or module path and names no transport; see {@link MillraceTransportProvider}. Or by name:
 *
 * {@snippet :
 * Vertx vertx = Vertx.builder().withTransport(MillraceTransport.onOwnThreads()).build();
 * }
 *
 * <p><b>Millrace's threads:</b> Vert.x's event loops on the reactors that also serve your {@code TcpServer}s, alarms
 * and tasks.
 *
 * {@snippet :
 * Reactors reactors = Reactors.open();
 * Vertx vertx = Vertx.builder().withTransport(MillraceTransport.on(reactors)).build();
 * }
 *
 * <p>Any thread may call every method here.
 *
 * <h2>Portability</h2>
 * Needs a backend with descriptors: epoll, kqueue or poll(2). Where there is none, {@link #available} is false, and
 * Vert.x runs on its NIO transport; {@code vertx.unavailableNativeTransportCause()} has the reason.
 */
public final class MillraceTransport implements Transport {
    private final io.vertx.core.spi.transport.Transport implementation;
    private final @Nullable Throwable unavailabilityCause;

    private MillraceTransport(@Nullable Reactors reactors) {
        this.unavailabilityCause = Millrace.unavailabilityCause();
        this.implementation = new ChannelTransport(reactors, unavailabilityCause);
    }

    /**
     * Returns a transport whose event loops have threads of Vert.x's, each with a poll of ours.
     *
     * @return for {@code VertxBuilder.withTransport}
     */
    public static MillraceTransport onOwnThreads() {
        return new MillraceTransport(null);
    }

    /**
     * Returns a transport whose event loops are reactors: one for each, whatever {@code VertxOptions} say of their
     * number. Closing the {@code Vertx} leaves the reactors running; when they end, its connections are closed.
     *
     * @param reactors must outlive the {@code Vertx}
     * @return for {@code VertxBuilder.withTransport}
     */
    public static MillraceTransport on(Reactors reactors) {
        return new MillraceTransport(Objects.requireNonNull(reactors, "reactors"));
    }

    /** {@code millrace}. */
    @Override
    public String name() {
        return "millrace";
    }

    @Override
    public boolean available() {
        return unavailabilityCause == null;
    }

    @Override
    public @Nullable Throwable unavailabilityCause() {
        return unavailabilityCause;
    }

    @Override
    public io.vertx.core.spi.transport.Transport implementation() {
        return implementation;
    }
}
