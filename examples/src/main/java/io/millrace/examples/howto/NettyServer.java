package io.millrace.examples.howto;

import io.millrace.netty.Millrace;
import io.millrace.netty.MillraceServerSocketChannel;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** A Netty server on Netty's own threads, which wait on Millrace's polls. */
public final class NettyServer {
    private NettyServer() {}

    /**
     * Serves until somebody presses Enter.
     *
     * @param args the port to listen on
     * @throws Exception if it cannot listen there
     */
    public static void main(String[] args) throws Exception {
        EventLoopGroup group =
                new MultiThreadIoEventLoopGroup(Millrace.ioHandlerFactory()); // was NioIoHandler.newFactory()
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(group)
                .channel(MillraceServerSocketChannel.class) // was NioServerSocketChannel.class
                .childHandler(new Echo());
        Channel server = bootstrap
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0])))
                .sync()
                .channel();
        System.out.println("Netty on " + server.localAddress() + "; Enter ends it");
        System.in.read();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    @Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            var _ = context.writeAndFlush(message);
        }
    }
}
