package io.millrace.soak;

import io.millrace.engine.Reactors;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A program that echoes until its input ends, and then prints how often it was told that it could not accept. */
final class FewDescriptorsServer {
    private FewDescriptorsServer() {}

    public static void main(String... arguments) throws IOException {
        AtomicInteger errors = new AtomicInteger();
        ConnectionHandler echo = new ConnectionHandler() {
            @Override
            public void onData(Connection connection, ByteBuffer data) {
                connection.send(data);
            }

            @Override
            public void onError(@Nullable Connection connection, Throwable failure) {
                if (connection == null) {
                    errors.incrementAndGet();
                }
            }
        };
        try (TcpServer server = TcpServer.builder()
                .reactors(Reactors.builder().reactors(1).backend(arguments[0]))
                .start(echo)) {
            System.out.println(server.address().getPort());
            while (System.in.read() >= 0) {
                // until it is closed
            }
            System.out.println("errors " + errors.get());
        }
    }
}
