package io.millrace.vertx.testsuite;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.netty.MillraceSocketChannel;
import io.netty.channel.Channel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.vertx.core.Vertx;
import io.vertx.core.internal.net.NetSocketInternal;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** That Vert.x's tests run on what they are said to run on. The only test here that may run outside a namespace. */
class TransportTest {
    @Test
    void theSelectedTransportIsInUse() throws Exception {
        Vertx vertx = Vertx.builder()
                .withTransport(io.vertx.test.core.VertxTestBase.TRANSPORT)
                .build();
        NetServer server = vertx.createNetServer()
                .connectHandler(socket -> {})
                .listen(0, "127.0.0.1")
                .await(10, TimeUnit.SECONDS);
        NetSocket socket = vertx.createNetClient()
                .connect(server.actualPort(), "127.0.0.1")
                .await(10, TimeUnit.SECONDS);
        Class<? extends Channel> expected = Boolean.parseBoolean(System.getProperty("millrace.vertx.default", "true"))
                ? MillraceSocketChannel.class
                : NioSocketChannel.class;
        assertThat(((NetSocketInternal) socket).channelHandlerContext().channel())
                .isInstanceOf(expected);
        vertx.close().await(10, TimeUnit.SECONDS);
    }
}
