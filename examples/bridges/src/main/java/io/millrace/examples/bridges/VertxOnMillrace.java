package io.millrace.examples.bridges;

import io.millrace.engine.Reactors;
import io.millrace.server.TcpServer;
import io.millrace.vertx.MillraceTransport;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** An HTTP server of Vert.x and a {@code TcpServer} on the same thread. */
public final class VertxOnMillrace {
    private VertxOnMillrace() {}

    /**
     * Serves until somebody presses Enter.
     *
     * @param args none
     * @throws Exception if they cannot listen
     */
    public static void main(String[] args) throws Exception {
        InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (Reactors reactors = Reactors.builder().reactors(1).name("vertx").open();
                TcpServer echo = TcpServer.builder()
                        .manager(reactors)
                        .address(anyPort)
                        .start((connection, data) -> connection.send(data))) {
            Vertx vertx = Vertx.builder()
                    .withTransport(MillraceTransport.on(reactors))
                    .build();
            HttpServer http = vertx.createHttpServer()
                    .requestHandler(request -> request.response()
                            .end("hello from " + Thread.currentThread().getName()))
                    .listen(0, "127.0.0.1")
                    .await(10, TimeUnit.SECONDS);
            System.out.println("Vert.x on port " + http.actualPort() + ", TcpServer on port "
                    + echo.address().getPort() + "; Enter ends it");
            System.in.read();
            vertx.close().await(10, TimeUnit.SECONDS);
        }
    }
}
