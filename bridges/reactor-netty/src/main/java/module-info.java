import org.jspecify.annotations.NullMarked;

/**
 * Reactor Netty on Millrace's loops: {@link io.millrace.reactor.netty.MillraceLoopResources}.
 *
 * <p>One line of a server, and one of a client:
 *
 * {@snippet :
 * MillraceLoopResources loops = MillraceLoopResources.on(reactors);
 * DisposableServer server = HttpServer.create()
 *         .runOn(loops)
 *         .host("127.0.0.1")
 *         .handle((request, response) -> response.sendString(Mono.just("hello")))
 *         .bindNow();
 * HttpClient client = HttpClient.create().runOn(loops).port(server.port());
 * }
 */
@NullMarked
@SuppressWarnings({"module", "requires-automatic", "requires-transitive-automatic"}) // Reactor has no module-info
module io.millrace.reactor.netty {
    requires transitive io.millrace.engine;
    requires io.millrace.netty;
    requires io.netty.common;
    requires transitive io.netty.transport;
    requires transitive reactor.core;
    requires transitive reactor.netty.core;
    requires static org.jspecify;

    exports io.millrace.reactor.netty;
}
