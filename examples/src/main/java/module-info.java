import org.jspecify.annotations.NullMarked;

/** Programs to read and to copy from. */
@NullMarked
module io.millrace.examples {
    requires io.millrace.backplane;
    requires io.millrace.console;
    requires io.millrace.engine;
    requires io.millrace.micrometer;
    requires io.millrace.net;
    requires io.millrace.netty;
    requires io.millrace.poll;
    requires transitive io.millrace.server;
    requires io.millrace.task;
    requires static org.jspecify;

    exports io.millrace.examples;
    exports io.millrace.examples.howto;
}
