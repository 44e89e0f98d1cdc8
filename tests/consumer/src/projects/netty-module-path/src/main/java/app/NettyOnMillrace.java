package app;

import io.millrace.engine.Reactors;
import io.millrace.netty.Millrace;
import io.millrace.netty.MillraceServerSocketChannel;
import io.millrace.netty.MillraceSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A word there and back, by Netty on its own threads and on reactors. */
public final class NettyOnMillrace {
    private NettyOnMillrace() {}

    public static void main(String[] args) throws Exception {
        EventLoopGroup own = new MultiThreadIoEventLoopGroup(1, Millrace.ioHandlerFactory("epoll"));
        System.out.println("netty, module path: " + echo(own) + " on its own thread");
        own.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        try (Reactors reactors = Reactors.builder().reactors(1).backend("epoll").open()) {
            EventLoopGroup shared = Millrace.groupOn(reactors);
            System.out.println("netty, module path: " + echo(shared) + " on a reactor");
            shared.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    private static String echo(EventLoopGroup group) throws Exception {
        Channel server = new ServerBootstrap()
                .group(group)
                .channel(MillraceServerSocketChannel.class)
                .childHandler(new Echo())
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .sync()
                .channel();
        CompletableFuture<String> answer = new CompletableFuture<>();
        Channel client = new Bootstrap()
                .group(group)
                .channel(MillraceSocketChannel.class)
                .handler(new Answer(answer))
                .connect(server.localAddress())
                .sync()
                .channel();
        client.writeAndFlush(Unpooled.copiedBuffer("hello", StandardCharsets.US_ASCII));
        return answer.get(10, TimeUnit.SECONDS);
    }

    @ChannelHandler.Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }
    }

    private static final class Answer extends ChannelInboundHandlerAdapter {
        private final CompletableFuture<String> answer;

        Answer(CompletableFuture<String> answer) {
            this.answer = answer;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            io.netty.buffer.ByteBuf bytes = (io.netty.buffer.ByteBuf) message;
            answer.complete(bytes.toString(StandardCharsets.US_ASCII));
            bytes.release();
        }
    }
}
