import org.jspecify.annotations.NullMarked;

/** The command-line program {@code ./millrace}. */
@NullMarked
module io.millrace.cli {
    requires info.picocli;
    requires io.millrace.backplane;
    requires io.millrace.console;
    requires io.millrace.engine;
    requires io.millrace.net;
    requires io.millrace.poll;
    requires io.millrace.server;
    requires static org.jspecify;
}
