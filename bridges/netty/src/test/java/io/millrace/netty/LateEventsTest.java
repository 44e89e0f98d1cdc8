package io.millrace.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Events that a loop has taken for a channel which then is closed. The number of its descriptor may be another socket's
 * at once, so whatever the channel still read, it would take from that one.
 */
class LateEventsTest {
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private final List<AutoCloseable> others = new ArrayList<>();

    @AfterEach
    void closeOthers() throws Exception {
        for (AutoCloseable other : others) {
            other.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-1: a datagram channel that a handler closes reads no more in that turn, whose its number then is")
    void datagrams(Loops loops) throws Exception {
        try (Loops.Opened opened = loops.open()) {
            EventLoop loop = opened.group().next();
            Closer closer = new Closer();
            for (int i = 0; i < 2; i++) {
                closer.channels.add(new Bootstrap()
                        .group(loop)
                        .channel(MillraceDatagramChannel.class)
                        .handler(closer)
                        .bind(ANY_PORT)
                        .sync()
                        .channel());
            }
            CountDownLatch busy = keepBusy(loop);
            try (DatagramSocket sender = new DatagramSocket()) {
                for (Channel each : closer.channels) {
                    sender.send(new DatagramPacket(new byte[1], 1, each.localAddress()));
                }
            }
            busy.countDown();
            closer.assertNothingLate(loop);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-1: neither does a connection with half-closure")
    void halfClosure(Loops loops) throws Exception {
        try (Loops.Opened opened = loops.open()) {
            EventLoop loop = opened.group().next();
            Closer closer = new Closer();
            Channel server = new ServerBootstrap()
                    .group(loop)
                    .channel(MillraceServerSocketChannel.class)
                    .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                    .childHandler(closer)
                    .bind(ANY_PORT)
                    .sync()
                    .channel();
            int port = ((InetSocketAddress) server.localAddress()).getPort();
            List<Socket> peers = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                Socket peer = new Socket(InetAddress.getLoopbackAddress(), port);
                peers.add(peer);
                others.add(peer);
                closer.channels.add(closer.active.poll(10, TimeUnit.SECONDS));
            }
            CountDownLatch busy = keepBusy(loop);
            for (Socket peer : peers) {
                peer.getOutputStream().write(1);
            }
            busy.countDown();
            closer.assertNothingLate(loop);
        }
    }

    /** Keeps the loop from polling, so that everything that happens meanwhile comes in one turn. */
    private static CountDownLatch keepBusy(EventLoop loop) throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        CompletableFuture<Void> entered = new CompletableFuture<>();
        loop.execute(() -> {
            entered.complete(null);
            try {
                busy.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        entered.get(10, TimeUnit.SECONDS);
        return busy;
    }

    /** Of several channels, the first one that reads closes the others. A new socket takes the number of one of them. */
    private final class Closer extends ChannelInboundHandlerAdapter {
        private final List<Channel> channels = new CopyOnWriteArrayList<>();
        private final BlockingQueue<Channel> active = new LinkedBlockingQueue<>();
        private final List<String> late = new CopyOnWriteArrayList<>();
        private final CompletableFuture<DatagramSocket> successor = new CompletableFuture<>();

        @Override
        public boolean isSharable() {
            return true;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            active.add(context.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) throws IOException {
            ReferenceCountUtil.release(message);
            if (!context.channel().isOpen()) {
                late.add("read");
                return;
            }
            for (Channel each : channels) {
                if (each != context.channel()) {
                    each.close();
                }
            }
            DatagramSocket next = new DatagramSocket(0, InetAddress.getLoopbackAddress());
            others.add(next);
            next.send(new DatagramPacket(new byte[3], 3, next.getLocalSocketAddress()));
            successor.complete(next);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            late.add(event.toString());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            late.add(cause.toString());
        }

        void assertNothingLate(EventLoop loop) throws Exception {
            DatagramSocket next = successor.get(10, TimeUnit.SECONDS);
            loop.submit(() -> {}).sync(); // the rest of that turn
            loop.submit(() -> {}).sync();
            assertThat(late).isEmpty();
            next.setSoTimeout(10_000);
            DatagramPacket received = new DatagramPacket(new byte[10], 10);
            next.receive(received);
            assertThat(received.getLength()).isEqualTo(3);
        }
    }
}
