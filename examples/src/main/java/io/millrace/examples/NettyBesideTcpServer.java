package io.millrace.examples;

import io.millrace.engine.Reactors;
import io.millrace.netty.Millrace;
import io.millrace.netty.MillraceServerSocketChannel;
import io.millrace.server.TcpServer;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** A Netty server and a {@code TcpServer} on the same thread, each sending back every byte. */
public final class NettyBesideTcpServer {
    private NettyBesideTcpServer() {}

    /**
     * Serves until somebody presses Enter.
     *
     * @param args none
     * @throws Exception if they cannot listen
     */
    public static void main(String[] args) throws Exception {
        InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (Reactors reactors = Reactors.builder().reactors(1).open();
                TcpServer ours = TcpServer.builder()
                        .manager(reactors)
                        .address(anyPort)
                        .start((connection, data) -> connection.send(data))) {
            EventLoopGroup group = Millrace.groupOn(reactors);
            Channel netty = new ServerBootstrap()
                    .group(group)
                    .channel(MillraceServerSocketChannel.class)
                    .childHandler(new Echo())
                    .bind(anyPort)
                    .sync()
                    .channel();
            System.out.println("TcpServer on " + ours.address() + ", Netty on " + netty.localAddress() + ", both on "
                    + reactors + "; Enter ends it");
            System.in.read();
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    @Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            var _ = context.write(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }
    }
}
