package io.millrace.netty;

import io.millrace.engine.Reactors;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The loops that each test runs on: Netty's threads with each backend, and the threads of reactors. */
enum Loops {
    EPOLL("epoll", false),
    POLL("poll", false),
    REACTORS_EPOLL("epoll", true),
    REACTORS_POLL("poll", true);

    private final String backend;
    private final boolean onReactors;

    Loops(String backend, boolean onReactors) {
        this.backend = backend;
        this.onReactors = onReactors;
    }

    Opened open() {
        if (onReactors) {
            Reactors reactors = Reactors.builder()
                    .reactors(2)
                    .backend(backend)
                    .name("netty-test")
                    .open();
            return new Opened(Millrace.groupOn(reactors), reactors);
        }
        return new Opened(new MultiThreadIoEventLoopGroup(2, Millrace.ioHandlerFactory(backend)), null);
    }

    /** A group and, if it runs on them, its reactors. */
    record Opened(IoEventLoopGroup group, @Nullable Reactors reactors) implements AutoCloseable {
        @Override
        public void close() {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
            if (reactors != null) {
                java.util.List<String> remains = reactors.shutdown(Duration.ofSeconds(5));
                if (!remains.isEmpty()) {
                    throw new AssertionError("has not ended: " + remains);
                }
            }
        }
    }
}
