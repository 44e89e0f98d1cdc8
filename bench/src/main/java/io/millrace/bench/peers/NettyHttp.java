package io.millrace.bench.peers;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.Version;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/**
 * HTTP/1.1 on Netty 4.2: answers every request with the same thirteen bytes of text, as the plaintext test of TechEmpower has it.
 *
 * <p>{@code --transport nio|epoll|io_uring|millrace|reactors} (epoll), {@code --port P} (0: the kernel chooses), {@code --loops N}: N event loops, of which the first accepts too.
 */
public final class NettyHttp {
    private NettyHttp() {}

    public static void main(String[] arguments) throws InterruptedException {
        String usage = "NettyHttp [--transport nio|epoll|io_uring|millrace|reactors] [--port P] [--loops N]";
        Options options = new Options(arguments, usage, "--transport", "--port", "--loops");
        int loops = (int) options.number("--loops", 1, 1, 64);
        String transport = options.text("--transport", "epoll");
        Hello hello = new Hello();
        ServerBootstrap server = new ServerBootstrap()
                .option(ChannelOption.SO_BACKLOG, 4096)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new HttpServerCodec(), hello);
                    }
                });
        NettyLoops.of(transport, loops, options).put(server);
        int port = (int) options.number("--port", 0, 0, 65_535);
        Channel listening =
                server.bind(new InetSocketAddress("127.0.0.1", port)).sync().channel();
        System.out.printf(
                "listening on 127.0.0.1:%d (Netty %s, HTTP/1.1, %s, %d loops, the first accepts)%n",
                ((InetSocketAddress) listening.localAddress()).getPort(),
                Version.identify().get("netty-transport").artifactVersion(),
                transport,
                loops);
        listening.closeFuture().sync();
    }

    @Sharable
    private static final class Hello extends ChannelInboundHandlerAdapter {
        private final ByteBuf text = Unpooled.unreleasableBuffer(Unpooled.directBuffer()
                .writeBytes("Hello, World!".getBytes(StandardCharsets.US_ASCII))
                .asReadOnly());

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (message instanceof HttpRequest) {
                DefaultFullHttpResponse response =
                        new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, text.duplicate());
                response.headers()
                        .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.TEXT_PLAIN)
                        .setInt(HttpHeaderNames.CONTENT_LENGTH, text.readableBytes());
                context.write(response, context.voidPromise());
            }
            ReferenceCountUtil.release(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }
}
