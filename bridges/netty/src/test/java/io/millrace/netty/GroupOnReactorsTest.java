package io.millrace.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.BlockedLoop;
import io.millrace.engine.Reactors;
import io.millrace.poll.ManualClock;
import io.millrace.server.TcpServer;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.FastThreadLocal;
import io.netty.util.concurrent.ScheduledFuture;
import io.netty.util.internal.ThreadExecutorMap;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Netty on the threads of reactors: one thread for both. */
@SuppressWarnings("deprecation") // what Netty deprecates must work, too
class GroupOnReactorsTest {
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    @BeforeAll
    static void watchLeaks() {
        Leaks.watch();
    }

    @AfterAll
    static void nothingLeaked() {
        Leaks.assertNone();
    }

    @Test
    @DisplayName("nty-2: a Netty server and a TcpServer on one reactor answer on one thread")
    void oneThreadForBoth() throws Exception {
        Set<String> threads = new TreeSet<>();
        try (Reactors reactors =
                Reactors.builder().reactors(1).name("one-thread").open()) {
            IoEventLoopGroup group = Millrace.groupOn(reactors);
            TcpServer ours = TcpServer.builder()
                    .address(ANY_PORT)
                    .manager(reactors)
                    .start((connection, data) -> {
                        threads.add(Thread.currentThread().getName());
                        connection.send(data);
                    });
            Channel netty = serve(group, new ChannelInboundHandlerAdapter() {
                @Override
                public boolean isSharable() {
                    return true;
                }

                @Override
                public void channelRead(ChannelHandlerContext context, Object message) {
                    threads.add(Thread.currentThread().getName());
                    context.writeAndFlush(message);
                }
            });
            for (int i = 0; i < 20; i++) {
                assertThat(ask(ours.address(), "ours " + i)).isEqualTo("ours " + i);
                assertThat(ask((InetSocketAddress) netty.localAddress(), "netty " + i))
                        .isEqualTo("netty " + i);
            }
            assertThat(threads).hasSize(1);
            assertThat(reactors.metrics().events()).isGreaterThan(40);
            assertThat(reactors.dump()).contains("MillraceServerSocketChannel");
            ours.close();
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    @Test
    @DisplayName(
            "nty-2: several groups share a reactor; the end of one leaves what Netty keeps for the thread to the others")
    void groupsShareAReactor() throws Exception {
        try (Reactors reactors = Reactors.builder().reactors(1).open()) {
            IoEventLoopGroup first = Millrace.groupOn(reactors);
            IoEventLoopGroup second = Millrace.groupOn(reactors);
            FastThreadLocal<String> kept = new FastThreadLocal<>();
            first.submit(() -> kept.set("of the first group")).sync();

            second.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
            assertThat(first.submit(ThreadExecutorMap::currentExecutor).get())
                    .as("without an executor, Netty's allocators have no cache for the thread")
                    .isSameAs(first.next());
            assertThat(first.submit(() -> kept.get()).get()).isEqualTo("of the first group");

            first.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
            CompletableFuture<String> after = new CompletableFuture<>();
            reactors.execute(() -> after.complete(ThreadExecutorMap.currentExecutor() + ", " + kept.get()));
            assertThat(after.get(10, TimeUnit.SECONDS))
                    .as("nothing remains on the thread")
                    .isEqualTo("null, null");
        }
    }

    @Test
    @DisplayName("nty-2: a task submitted on the reactor's thread, but not by Netty, wakes its loop (netty#15922)")
    void noTaskIsLost() throws Exception {
        try (Reactors reactors = Reactors.builder().reactors(1).open()) {
            IoEventLoopGroup group = Millrace.groupOn(reactors);
            EventLoop loop = group.next();
            for (int i = 0; i < 100; i++) {
                CompletableFuture<Boolean> ran = new CompletableFuture<>();
                CompletableFuture<Boolean> fired = new CompletableFuture<>();
                reactors.execute(() -> {
                    loop.execute(() -> ran.complete(loop.inEventLoop()));
                    loop.schedule(() -> fired.complete(true), 1, TimeUnit.MILLISECONDS);
                });
                assertThat(ran.get(10, TimeUnit.SECONDS)).isTrue();
                assertThat(fired.get(10, TimeUnit.SECONDS)).isTrue();
            }
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    @Test
    @DisplayName(
            "nty-2: Netty's timers are alarms of the reactor: they follow its clock, in order, and can be cancelled")
    void timersFollowTheClock() throws Exception {
        ManualClock clock = new ManualClock();
        try (Reactors reactors =
                Reactors.builder().reactors(1).clock(clock).withoutWatchdog().open()) {
            IoEventLoopGroup group = Millrace.groupOn(reactors);
            EventLoop loop = group.next();
            List<String> fired = new CopyOnWriteArrayList<>();
            loop.schedule(() -> fired.add("hour"), 1, TimeUnit.HOURS);
            ScheduledFuture<?> cancelled = loop.schedule(() -> fired.add("cancelled"), 30, TimeUnit.MINUTES);
            loop.submit(() -> loop.schedule(() -> fired.add("minute"), 1, TimeUnit.MINUTES))
                    .sync();
            ScheduledFuture<?> rate = loop.scheduleAtFixedRate(() -> fired.add("rate"), 10, 20, TimeUnit.MINUTES);
            settle(loop);
            assertThat(fired).isEmpty();

            clock.advance(Duration.ofMinutes(1).plusMillis(2));
            await().untilAsserted(() -> assertThat(fired).containsExactly("minute"));
            assertThat(cancelled.cancel(false)).isTrue();
            settle(loop);
            clock.advance(Duration.ofMinutes(10));
            await().untilAsserted(() -> assertThat(fired).containsExactly("minute", "rate"));
            clock.advance(Duration.ofMinutes(20));
            await().untilAsserted(() -> assertThat(fired).containsExactly("minute", "rate", "rate"));
            rate.cancel(false);
            settle(loop);
            clock.advance(Duration.ofMinutes(30));
            await().untilAsserted(() -> assertThat(fired).containsExactly("minute", "rate", "rate", "hour"));
            group.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
        }
    }

    /** Until what was submitted has arrived. */
    private static void settle(EventLoop loop) throws InterruptedException {
        loop.submit(() -> {}).sync();
    }

    @Test
    @DisplayName("nty-5: the watchdog names the channel whose handler blocks the reactor")
    void theWatchdogNamesTheChannel() throws Exception {
        BlockingQueue<BlockedLoop> reports = new LinkedBlockingQueue<>();
        CountDownLatch blocked = new CountDownLatch(1);
        try (Reactors reactors = Reactors.builder()
                .reactors(1)
                .watchdog(Duration.ofMillis(50), reports::add)
                .open()) {
            IoEventLoopGroup group = Millrace.groupOn(reactors);
            Channel server = serve(group, new ChannelInboundHandlerAdapter() {
                @Override
                public boolean isSharable() {
                    return true;
                }

                @Override
                public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
                    blocked.await();
                    context.writeAndFlush(message);
                }
            });
            CompletableFuture<String> answer =
                    CompletableFuture.supplyAsync(() -> ask((InetSocketAddress) server.localAddress(), "slow"));
            BlockedLoop report = reports.poll(10, TimeUnit.SECONDS);
            blocked.countDown();
            assertThat(report).isNotNull();
            assertThat(report.toString()).contains("MillraceSocketChannel", "channelRead");
            assertThat(answer.get(10, TimeUnit.SECONDS)).isEqualTo("slow");
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    @Test
    @DisplayName("nty-5: when the reactors end, channels are closed, handlers are told, and the group ends")
    void theEndOfTheReactors() throws Exception {
        List<String> told = new CopyOnWriteArrayList<>();
        Reactors reactors = Reactors.builder().reactors(2).open();
        IoEventLoopGroup group = Millrace.groupOn(reactors);
        Channel server = serve(group, new Teller(told));
        Channel client = new Bootstrap()
                .group(group)
                .channel(MillraceSocketChannel.class)
                .handler(new Teller(told))
                .connect(server.localAddress())
                .sync()
                .channel();
        Channel idle = new Bootstrap()
                .group(group)
                .channel(MillraceDatagramChannel.class)
                .option(ChannelOption.AUTO_READ, false)
                .handler(new Teller(told))
                .bind(ANY_PORT)
                .sync()
                .channel();
        await().until(() -> told.stream().filter("active"::equals).count() == 3);

        assertThat(reactors.shutdown(Duration.ofSeconds(10))).isEmpty();
        assertThat(group.terminationFuture().await(10, TimeUnit.SECONDS)).isTrue();
        for (Channel each : List.of(server, client, idle)) {
            assertThat(each.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
        }
        await().untilAsserted(() -> {
            assertThat(told.stream().filter("inactive"::equals)).hasSize(3);
            assertThat(told.stream().filter("unregistered"::equals)).hasSize(3);
        });
        assertThat(group.isTerminated()).isTrue();
        assertThatThrownBy(() -> group.next().execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
    }

    @Test
    @DisplayName(
            "nty-5: shutting the group down leaves the reactors running, and does not block them for the quiet period")
    void theEndOfTheGroup() throws Exception {
        try (Reactors reactors = Reactors.builder().reactors(1).open()) {
            IoEventLoopGroup group = Millrace.groupOn(reactors);
            Channel server = serve(group, new Teller(new CopyOnWriteArrayList<>()));
            group.shutdownGracefully(300, 5000, TimeUnit.MILLISECONDS);
            await().until(() -> !server.isOpen());
            // In the quiet period, the reactor serves others, and Netty's last tasks.
            CompletableFuture<Boolean> others = new CompletableFuture<>();
            reactors.execute(() -> others.complete(group.isTerminated()));
            assertThat(others.get(10, TimeUnit.SECONDS)).isFalse();
            assertThat(group.next().submit(() -> "late").get(10, TimeUnit.SECONDS))
                    .isEqualTo("late");
            group.terminationFuture().sync();

            assertThat(reactors.isShutdown()).isFalse();
            IoEventLoopGroup next = Millrace.groupOn(reactors);
            assertThat(next.next().submit(() -> "next").get(10, TimeUnit.SECONDS))
                    .isEqualTo("next");
            next.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("nty-5: after the shutdown of a group, no thread and no descriptor is left")
    void nothingIsLeft(Loops loops) throws Exception {
        try (Loops.Opened warm = loops.open()) {
            exchange(warm.group());
        }
        await().until(() -> threads().isEmpty());
        List<String> before = descriptors();
        for (int i = 0; i < 5; i++) {
            try (Loops.Opened opened = loops.open()) {
                exchange(opened.group());
            }
        }
        await().untilAsserted(() -> {
            assertThat(threads()).isEmpty();
            assertThat(descriptors()).isEqualTo(before);
        });
    }

    private static void exchange(IoEventLoopGroup group) throws InterruptedException {
        Channel server = serve(group, new ChannelInboundHandlerAdapter() {
            @Override
            public boolean isSharable() {
                return true;
            }

            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                context.writeAndFlush(message);
            }
        });
        assertThat(ask((InetSocketAddress) server.localAddress(), "hello")).isEqualTo("hello");
        // This one stays open, and is left to the shutdown.
        new Bootstrap()
                .group(group)
                .channel(MillraceSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter())
                .connect(server.localAddress())
                .sync();
    }

    private static Set<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("netty-test") || name.startsWith("multiThreadIoEventLoopGroup"))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns what each open descriptor is. */
    private static List<String> descriptors() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.map(GroupOnReactorsTest::kind).sorted().toList();
        }
    }

    private static String kind(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().replaceAll("\\d+", "");
        } catch (IOException e) {
            return "gone"; // the one that lists the others, for example
        }
    }

    @Test
    @DisplayName("nty-1: channels and loops of other transports are refused with the reason")
    void otherTransports() {
        try (Reactors reactors = Reactors.builder().reactors(1).backend("nio").open()) {
            assertThatThrownBy(() -> Millrace.groupOn(reactors))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("NioIoHandler");
        }
        assertThatThrownBy(() -> new MultiThreadIoEventLoopGroup(1, Millrace.ioHandlerFactory("nio")))
                .hasStackTraceContaining("NioIoHandler");
        IoEventLoopGroup nio = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        IoEventLoopGroup ours = new MultiThreadIoEventLoopGroup(1, Millrace.ioHandlerFactory());
        for (Channel channel : List.of(new MillraceSocketChannel(), new NioSocketChannel())) {
            IoEventLoopGroup other = channel instanceof NioSocketChannel ? ours : nio;
            assertThat(other.register(channel).awaitUninterruptibly().cause())
                    .isInstanceOf(IllegalStateException.class);
            channel.unsafe().closeForcibly(); // nobody else does
        }
        nio.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
        ours.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
    }

    // ---- Doubles ----

    private static Channel serve(IoEventLoopGroup group, ChannelInboundHandlerAdapter handler)
            throws InterruptedException {
        return new ServerBootstrap()
                .group(group)
                .channel(MillraceServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(handler);
                    }
                })
                .bind(ANY_PORT)
                .sync()
                .channel();
    }

    private static String ask(InetSocketAddress server, String text) {
        try (Socket socket = new Socket(server.getAddress(), server.getPort())) {
            byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
            socket.getOutputStream().write(bytes);
            return new String(socket.getInputStream().readNBytes(bytes.length), StandardCharsets.US_ASCII);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Writes down the life of its channels. */
    private static final class Teller extends ChannelInboundHandlerAdapter {
        private final List<String> told;

        Teller(List<String> told) {
            this.told = told;
        }

        @Override
        public boolean isSharable() {
            return true;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            told.add("active");
            context.fireChannelActive();
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            told.add("inactive");
        }

        @Override
        public void channelUnregistered(ChannelHandlerContext context) {
            told.add("unregistered");
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ((ByteBuf) message).release();
        }
    }
}
