import org.jspecify.annotations.NullMarked;

/** Netty's channels on Millrace's loops: {@link io.millrace.netty.Millrace}. */
@NullMarked
@SuppressWarnings("module")
module io.millrace.netty {
    requires transitive io.millrace.engine;
    requires transitive io.millrace.poll;
    requires io.millrace.sys;
    requires transitive io.netty.buffer;
    requires transitive io.netty.common;
    requires transitive io.netty.transport;
    requires static org.jspecify;

    exports io.millrace.netty;
}
