import org.jspecify.annotations.NullMarked;

/** A web page that shows what servers and their loops are doing: {@link io.millrace.console.Console}. */
@NullMarked
@SuppressWarnings("module")
module io.millrace.console {
    requires transitive io.millrace.engine;
    requires transitive io.millrace.server;
    requires jdk.httpserver;
    requires static org.jspecify;

    exports io.millrace.console;
}
