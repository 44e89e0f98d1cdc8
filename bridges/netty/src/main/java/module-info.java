import org.jspecify.annotations.NullMarked;

/**
 * Netty's channels on Millrace's loops: {@link io.millrace.netty.Millrace}.
 *
 * <p>A bootstrap with two lines changed:
 *
 * {@snippet :
 * EventLoopGroup group =
 *         new MultiThreadIoEventLoopGroup(Millrace.ioHandlerFactory()); // was NioIoHandler.newFactory()
 * ServerBootstrap bootstrap = new ServerBootstrap()
 *         .group(group)
 *         .channel(MillraceServerSocketChannel.class) // was NioServerSocketChannel.class
 *         .childHandler(new Echo());
 * }
 */
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
