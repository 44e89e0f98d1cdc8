import org.jspecify.annotations.NullMarked;

/**
 * Vert.x 5 on Millrace's loops: {@link io.millrace.vertx.MillraceTransport}.
 *
 * <p>Vert.x finds it by itself; or, to run on reactors:
 *
 * {@snippet :
 * Vertx vertx = Vertx.builder().withTransport(MillraceTransport.on(reactors)).build();
 * }
 */
@NullMarked
@SuppressWarnings("module")
module io.millrace.vertx {
    requires transitive io.millrace.engine;
    requires io.millrace.netty;
    requires io.netty.common;
    requires io.netty.transport;
    requires transitive io.vertx.core;
    requires static org.jspecify;

    exports io.millrace.vertx;

    provides io.vertx.core.spi.VertxServiceProvider with
            io.millrace.vertx.MillraceTransportProvider;
}
