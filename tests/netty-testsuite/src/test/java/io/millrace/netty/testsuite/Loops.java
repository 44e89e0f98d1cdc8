package io.millrace.netty.testsuite;

import io.millrace.engine.Reactors;
import io.millrace.netty.Millrace;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.Locale;

/** Which loops the tests run on, by {@code -Dmillrace.netty.loops=}. */
public enum Loops {
    /** Netty's threads, each with a poll of ours. */
    POLL,
    /** Our reactors, on whose threads Netty runs. */
    REACTORS,
    /** Netty's own, for comparison. */
    NIO;

    public static final Loops SELECTED =
            valueOf(System.getProperty("millrace.netty.loops", "poll").toUpperCase(Locale.ROOT));

    public EventLoopGroup group(int threads) {
        return switch (this) {
            case POLL ->
                new MultiThreadIoEventLoopGroup(
                        threads, new DefaultThreadFactory("suite", true), Millrace.ioHandlerFactory());
            case REACTORS ->
                Millrace.groupOn(Reactors.builder()
                        .reactors(threads)
                        .daemon(true)
                        .name("suite")
                        .open());
            case NIO ->
                new MultiThreadIoEventLoopGroup(
                        threads, new DefaultThreadFactory("suite", true), NioIoHandler.newFactory());
        };
    }
}
