package app;

import io.millrace.engine.Reactors;
import io.millrace.vertx.MillraceTransport;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A word there and back, by the transport that Vert.x finds, and on a reactor. */
public final class VertxOnMillrace {
    private VertxOnMillrace() {}

    public static void main(String[] args) throws Exception {
        String path = VertxOnMillrace.class.getModule().isNamed() ? "module path" : "class path";
        Vertx found = Vertx.vertx();
        System.out.println("vertx, " + path + ": " + echo(found) + " by the transport that is found, native: "
                + found.isNativeTransportEnabled());
        found.close().await(10, TimeUnit.SECONDS);
        try (Reactors reactors =
                Reactors.builder().reactors(1).name("loops").backend("epoll").open()) {
            Vertx shared = Vertx.builder()
                    .withTransport(MillraceTransport.on(reactors))
                    .build();
            System.out.println("vertx, " + path + ": " + echo(shared) + " on a reactor");
            shared.close().await(10, TimeUnit.SECONDS);
        }
    }

    private static String echo(Vertx vertx) throws Exception {
        NetServer server = vertx.createNetServer()
                .connectHandler(socket -> socket.handler(socket::write))
                .listen(0, "127.0.0.1")
                .await(10, TimeUnit.SECONDS);
        CompletableFuture<String> answer = new CompletableFuture<>();
        vertx.createNetClient()
                .connect(server.actualPort(), "127.0.0.1")
                .onComplete(socket -> ask(socket, answer), answer::completeExceptionally);
        return answer.get(10, TimeUnit.SECONDS);
    }

    private static void ask(NetSocket socket, CompletableFuture<String> answer) {
        socket.handler(bytes -> answer.complete(bytes.toString()));
        socket.write(Buffer.buffer("hello"));
    }
}
