import org.jspecify.annotations.NullMarked;

/**
 * Sources that the kernel watches: sockets, pipes, descriptors, files, signals and processes, made for one of two families by {@link
 * io.millrace.net.Net}.
 */
@NullMarked
@SuppressWarnings("module")
module io.millrace.net {
    requires transitive io.millrace.poll;
    requires io.millrace.sys;
    requires jdk.net;
    requires static org.jspecify;

    exports io.millrace.net;
    exports io.millrace.net.memory to
            io.millrace.testkit;
}
