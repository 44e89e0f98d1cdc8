package io.millrace.bench.peers;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetSocketAddress;

/** Files over HTTP on Netty 4.2 with epoll, as its own example HttpStaticFileServer is written; without conditions and lists. */
public final class NettyFiles {
    private NettyFiles() {}

    public static void main(String[] arguments) throws InterruptedException {
        Options options = new Options(arguments, "NettyFiles --directory DIR [--port P]", "--directory", "--port");
        Files handler = new Files(new File(options.text("--directory", ".")));
        Channel listening = new ServerBootstrap()
                .group(new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory()))
                .channel(EpollServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, 4096)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(65_536), handler);
                    }
                })
                .bind(new InetSocketAddress("127.0.0.1", (int) options.number("--port", 0, 0, 65_535)))
                .sync()
                .channel();
        System.out.printf(
                "listening on 127.0.0.1:%d (Netty's HTTP, epoll, 1 loop)%n",
                ((InetSocketAddress) listening.localAddress()).getPort());
        listening.closeFuture().sync();
    }

    @Sharable
    private static final class Files extends SimpleChannelInboundHandler<FullHttpRequest> {
        private final File directory;

        Files(File directory) {
            this.directory = directory;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) throws IOException {
            File file = new File(directory, request.uri());
            if (request.uri().contains("..") || !file.isFile()) {
                context.writeAndFlush(new DefaultFullHttpResponse(
                        HttpVersion.HTTP_1_1, HttpResponseStatus.NOT_FOUND, Unpooled.EMPTY_BUFFER));
                return;
            }
            RandomAccessFile opened = new RandomAccessFile(file, "r");
            long length = opened.length();
            HttpResponse response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
            response.headers()
                    .set(HttpHeaderNames.CONTENT_LENGTH, length)
                    .set(HttpHeaderNames.CONTENT_TYPE, "application/octet-stream");
            context.write(response);
            context.write(new DefaultFileRegion(opened.getChannel(), 0, length));
            context.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }
}
