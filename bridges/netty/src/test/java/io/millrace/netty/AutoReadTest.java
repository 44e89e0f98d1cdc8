package io.millrace.netty;

import static org.awaitility.Awaitility.await;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Auto-read, as several threads turn it off and on. */
class AutoReadTest {
    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-1: auto-read that is turned on last is on, though another thread's off arrives after it")
    void onIsLast(Loops loops) throws Exception {
        AtomicInteger read = new AtomicInteger();
        CompletableFuture<Channel> accepted = new CompletableFuture<>();
        try (Loops.Opened opened = loops.open()) {
            Channel server = new ServerBootstrap()
                    .group(opened.group())
                    .channel(MillraceServerSocketChannel.class)
                    .childHandler(new SimpleChannelInboundHandler<ByteBuf>() {
                        @Override
                        public void channelActive(ChannelHandlerContext context) {
                            accepted.complete(context.channel());
                            context.fireChannelActive();
                        }

                        @Override
                        protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
                            read.addAndGet(message.readableBytes());
                        }
                    })
                    .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .sync()
                    .channel();
            int port = ((InetSocketAddress) server.localAddress()).getPort();
            try (Socket peer = new Socket(InetAddress.getLoopbackAddress(), port)) {
                Channel channel = accepted.get(10, TimeUnit.SECONDS);
                EventLoop loop = channel.eventLoop();
                CountDownLatch off = new CountDownLatch(1);
                CompletableFuture<Void> entered = new CompletableFuture<>();
                loop.execute(() -> {
                    entered.complete(null);
                    try {
                        off.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    channel.config().setAutoRead(true);
                });
                entered.get(10, TimeUnit.SECONDS);
                channel.config().setAutoRead(false); // what that does on the loop comes after the task above
                off.countDown();
                loop.submit(() -> {}).sync();

                peer.getOutputStream().write(new byte[5]);
                await().until(() -> read.get() == 5);
            }
        }
    }
}
