package io.millrace.bench.peers;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SelectStrategy;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.OpenSslSessionTicketKey;
import io.netty.handler.ssl.ReferenceCountedOpenSslContext;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.internal.tcnative.SessionTicketKey;
import io.netty.util.Version;
import java.io.File;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.net.ssl.SSLException;

/**
 * An echo server on Netty 4.2, as its own examples are written: what was read is written as it is, and flushed when the pass has read all.
 *
 * <p>{@code --transport nio|epoll|io_uring|millrace|reactors} (epoll), {@code --port P} (0: the kernel chooses), {@code --loops N}: N event loops, of which the first accepts too; connections go round.
 * {@code --spin MICROS}: epoll only, and since Netty knows no limit, any number above 0 means that it never blocks. Allocator and buffer sizes are Netty's defaults. io_uring has
 * a buffer ring, multishot accept and receive where the kernel offers them.
 *
 * <p>{@code --tls jdk|openssl --cert FILE --key FILE}: TLS 1.3 by Netty's {@code SslHandler}, on the JDK's engine or on tcnative (BoringSSL); the rest of it as Netty sets it.
 *
 * <p>Half-closed connections stay open until all is written; that costs nothing per message, and all servers here do it.
 */
public final class NettyEcho {
    private NettyEcho() {}

    public static void main(String[] arguments) throws InterruptedException {
        String usage =
                "NettyEcho [--transport nio|epoll|io_uring|millrace|reactors] [--port P] [--loops N] [--spin MICROS]"
                        + " [--tls jdk|openssl --cert FILE --key FILE]";
        Options options =
                new Options(arguments, usage, "--transport", "--port", "--loops", "--spin", "--tls", "--cert", "--key");
        int port = (int) options.number("--port", 0, 0, 65_535);
        int loops = (int) options.number("--loops", 1, 1, 64);
        boolean busy = options.number("--spin", 0, 0, Integer.MAX_VALUE) > 0;
        String transport = options.text("--transport", "epoll");
        if (busy && !transport.equals("epoll")) {
            throw options.refuse("only Netty's epoll transport can wait without blocking");
        }

        ServerBootstrap server = new ServerBootstrap()
                .option(ChannelOption.SO_BACKLOG, 4096)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childHandler(child(options));
        if (busy) {
            server.group(new MultiThreadIoEventLoopGroup(loops, neverBlocking()))
                    .channel(EpollServerSocketChannel.class);
        } else {
            NettyLoops.of(transport, loops, options).put(server);
        }

        Channel listening =
                server.bind(new InetSocketAddress("127.0.0.1", port)).sync().channel();
        System.out.printf(
                "listening on 127.0.0.1:%d (Netty %s, %s%s%s, %d loops, the first accepts)%n",
                ((InetSocketAddress) listening.localAddress()).getPort(),
                Version.identify().get("netty-transport").artifactVersion(),
                transport,
                busy ? " never blocking" : transport.equals("io_uring") ? NettyLoops.ringFeatures() : "",
                options.text("--tls", "").isEmpty() ? "" : ", TLS by " + options.text("--tls", ""),
                loops);
        listening.closeFuture().sync();
    }

    private static ChannelHandler child(Options options) {
        Echo echo = new Echo();
        String tls = options.text("--tls", "");
        if (tls.isEmpty()) {
            return echo;
        }
        SslProvider provider = switch (tls) {
            case "jdk" -> SslProvider.JDK;
            case "openssl" -> SslProvider.OPENSSL_REFCNT;
            default -> throw options.refuse("no TLS by " + tls);
        };
        if (provider != SslProvider.JDK && !OpenSsl.isAvailable()) {
            throw options.refuse("Netty cannot use tcnative here: " + OpenSsl.unavailabilityCause());
        }
        try {
            SslContext context = SslContextBuilder.forServer(
                            new File(options.text("--cert", "")), new File(options.text("--key", "")))
                    .sslProvider(provider)
                    .protocols("TLSv1.3")
                    .build();
            if (context instanceof ReferenceCountedOpenSslContext own) {
                byte[] key = new byte[SessionTicketKey.TICKET_KEY_SIZE];
                new SecureRandom().nextBytes(key);
                own.sessionContext()
                        .setTicketKeys(new OpenSslSessionTicketKey(
                                Arrays.copyOfRange(key, 0, 16),
                                Arrays.copyOfRange(key, 16, 32),
                                Arrays.copyOfRange(key, 32, 48)));
            }
            return new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(context.newHandler(channel.alloc()), echo);
                }
            };
        } catch (SSLException e) {
            throw options.refuse("cannot use the certificate: " + e);
        }
    }

    private static IoHandlerFactory neverBlocking() {
        return EpollIoHandler.newFactory(0, () -> (supplier, hasTasks) -> SelectStrategy.BUSY_WAIT);
    }

    @Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.write(message, context.voidPromise());
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event == ChannelInputShutdownEvent.INSTANCE) {
                context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }
}
