import org.jspecify.annotations.NullMarked;

/**
 * A web page that shows what servers and their loops are doing: {@link io.millrace.console.Console}.
 *
 * <p>A server with a console:
 *
 * {@snippet :
 * try (TcpServer server = Chat4Timeouts.settings(port).start(connection -> Chat4Timeouts.guest());
 *         Console console = Console.builder().add("chat", server).open()) {
 *     System.out.println(server + "; Enter ends it");
 *     System.out.println("console on " + console.url());
 *     System.in.read();
 *     System.out.println(server.metrics());
 * }
 * }
 */
@NullMarked
@SuppressWarnings("module")
module io.millrace.console {
    requires transitive io.millrace.engine;
    requires transitive io.millrace.server;
    requires jdk.httpserver;
    requires static org.jspecify;

    exports io.millrace.console;
}
