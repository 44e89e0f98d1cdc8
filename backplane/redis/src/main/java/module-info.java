import org.jspecify.annotations.NullMarked;

/** A backplane over Redis Streams. Nothing in it is called by users: its URL is {@code redis://…}. */
@NullMarked
@SuppressWarnings({"module", "requires-automatic"}) // Lettuce has no module-info
module io.millrace.redis {
    requires io.millrace.backplane;
    requires io.millrace.engine;
    requires io.millrace.netty;
    requires io.netty.common;
    requires io.netty.resolver;
    requires io.netty.transport;
    requires lettuce.core;
    requires reactor.core;
    // What Lettuce needs at run time, and has no module-info to say so.
    requires io.netty.handler;
    requires io.netty.resolver.dns;
    requires org.slf4j;
    requires static org.jspecify;

    provides io.millrace.backplane.spi.EngineProvider with
            io.millrace.redis.RedisProvider;
}
