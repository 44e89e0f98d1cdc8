import org.jspecify.annotations.NullMarked;

/**
 * TCP servers and clients on the engine: {@link io.millrace.server.TcpServer} and {@link io.millrace.server.TcpClient}.
 *
 * <p>An echo server:
 *
 * {@snippet :
 * try (TcpServer server = TcpServer.listen(port, (connection, data) -> connection.send(data))) {
 *     System.out.println(server + "; Enter ends it");
 *     System.in.read();
 * }
 * }
 */
@NullMarked
@SuppressWarnings("module")
module io.millrace.server {
    requires transitive io.millrace.engine;
    requires transitive io.millrace.net;
    requires io.millrace.poll;
    requires static jdk.jfr;
    requires static transitive org.jspecify;

    exports io.millrace.server;
    exports io.millrace.server.tls;
    exports io.millrace.server.internal to
            io.millrace.testkit;
}
