import org.jspecify.annotations.NullMarked;

/** The only module that makes native calls: one small interface, {@code Selector}, and a file per mechanism. */
@NullMarked
@SuppressWarnings("module")
module io.millrace.sys {
    requires jdk.unsupported; // sun.misc.Signal, through method handles
    requires static transitive org.jspecify;

    exports io.millrace.sys to
            io.millrace.poll,
            io.millrace.net,
            io.millrace.engine,
            io.millrace.netty;
    exports io.millrace.sys.call to
            io.millrace.poll,
            io.millrace.net,
            io.millrace.engine,
            io.millrace.netty;
    exports io.millrace.sys.posix to
            io.millrace.net,
            io.millrace.engine,
            io.millrace.netty;
    exports io.millrace.sys.selector to
            io.millrace.poll,
            io.millrace.net;

    uses io.millrace.sys.SelectorProvider;
}
