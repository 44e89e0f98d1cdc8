package app;

import io.millrace.engine.Reactors;
import io.millrace.reactor.netty.MillraceLoopResources;
import java.time.Duration;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;

/** A word there and back, on loops with threads of their own and on a reactor. */
public final class ReactorNettyOnMillrace {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private ReactorNettyOnMillrace() {}

    public static void main(String[] args) {
        String path = ReactorNettyOnMillrace.class.getModule().isNamed() ? "module path" : "class path";
        MillraceLoopResources own = MillraceLoopResources.create("own", 1, true);
        System.out.println("reactor-netty, " + path + ": " + echo(own) + " on its own thread");
        own.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
        try (Reactors reactors =
                Reactors.builder().reactors(1).name("loops").backend("epoll").open()) {
            MillraceLoopResources shared = MillraceLoopResources.on(reactors);
            System.out.println("reactor-netty, " + path + ": " + echo(shared) + " on a reactor");
            shared.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
        }
    }

    private static String echo(MillraceLoopResources loops) {
        DisposableServer server = TcpServer.create()
                .runOn(loops)
                .host("127.0.0.1")
                .port(0)
                .handle((in, out) -> out.send(in.receive().retain()))
                .bindNow(PATIENCE);
        Connection client = TcpClient.create()
                .runOn(loops)
                .host("127.0.0.1")
                .port(server.port())
                .connectNow(PATIENCE);
        client.outbound().sendString(Mono.just("hello")).then().block(PATIENCE);
        String answer = client.inbound().receive().asString().blockFirst(PATIENCE);
        client.disposeNow(PATIENCE);
        server.disposeNow(PATIENCE);
        return answer;
    }
}
