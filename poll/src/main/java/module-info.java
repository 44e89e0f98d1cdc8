import org.jspecify.annotations.NullMarked;

/** One place to wait: {@link io.millrace.poll.Poll} and what registers with it. */
@NullMarked
@SuppressWarnings("module")
module io.millrace.poll {
    requires io.millrace.sys;
    requires org.jctools.core.jdk11;
    requires static transitive org.jspecify;

    exports io.millrace.poll;
    exports io.millrace.poll.internal to
            io.millrace.net,
            io.millrace.engine,
            io.millrace.server,
            io.millrace.netty;
}
