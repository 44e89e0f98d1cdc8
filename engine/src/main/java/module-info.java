import org.jspecify.annotations.NullMarked;

/** Reactors under two faces, {@link io.millrace.engine.EventManager} and {@link io.millrace.engine.EventLoop}, and what belongs to them. */
@NullMarked
@SuppressWarnings("module")
module io.millrace.engine {
    requires transitive io.millrace.net;
    requires transitive io.millrace.poll;
    requires io.millrace.sys;
    requires org.jctools.core.jdk11;
    requires static jdk.jfr;
    requires static transitive org.jspecify;

    exports io.millrace.engine;
    exports io.millrace.engine.pool;
    exports io.millrace.engine.internal to
            io.millrace.server;
    exports io.millrace.engine.recorder to
            io.millrace.server;
    exports io.millrace.engine.transport to
            io.millrace.server,
            io.millrace.netty,
            io.millrace.testkit;
    exports io.millrace.engine.vthread to
            io.millrace.server,
            io.millrace.testkit;
}
