package io.millrace.soak;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Dispatch;
import io.millrace.engine.EventLoop;
import io.millrace.engine.EventManager;
import io.millrace.engine.Reactors;
import io.millrace.engine.pool.ComputePool;
import io.millrace.poll.Interest;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import io.millrace.testkit.Await;
import io.millrace.testkit.Background;
import io.millrace.testkit.Thrown;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A server, clients, managers, a loop and a pool of one seed, with some traffic; and how they end. */
final class Constellation implements AutoCloseable {
    private static final List<String> BACKENDS = List.of("epoll", "poll", "nio");
    /**
     * A way to end a part.
     *
     * @param name for people
     * @param patient it may wait for long. Then no thread of another part asks for it: two that wait for each other would do so for ten seconds, which is right and tedious
     * @param call what to do
     */
    private record Ending(String name, boolean patient, Runnable call) {}

    private static Ending patient(String name, Runnable call) {
        return new Ending(name, true, call);
    }

    private static Ending quick(String name, Runnable call) {
        return new Ending(name, false, call);
    }

    private static final Duration[] DEADLINES = {
        Duration.ZERO, Duration.ofMillis(1), Duration.ofMillis(10), Duration.ofMillis(50)
    };

    private final Random random;
    private final long seed;
    private final Map<Connection, AtomicInteger> connects = new ConcurrentHashMap<>();
    private final Map<Connection, AtomicInteger> disconnects = new ConcurrentHashMap<>();
    private final List<CompletableFuture<?>> futures = Collections.synchronizedList(new ArrayList<>());
    private final List<SocketChannel> peers = new ArrayList<>();
    private final List<AutoCloseable> parts = new ArrayList<>();
    /** Ways to end the parts, one list for each. */
    private final List<List<Ending>> endings = new ArrayList<>();
    /** Where something can be run: two that belong to nobody, and behind them those of parts. */
    private final List<Consumer<Runnable>> threads = new ArrayList<>();
    /** One of the endings, to be asked for by a callback. */
    private volatile @Nullable Runnable fromCallback;

    private final CountDownLatch gate = new CountDownLatch(1);
    private final boolean blocks;
    private @Nullable Background<Boolean> running;

    Constellation(long seed) throws Exception {
        this.seed = seed;
        random = new Random(seed);
        threads.add(task -> Thread.ofPlatform().name("ends-caller").daemon().start(task));
        threads.add(task -> Thread.ofVirtual().start(task));
        EventManager first = manager();
        EventManager second = random.nextBoolean() ? first : manager();
        Dispatch dispatch = pick(Dispatch.values());
        blocks = dispatch != Dispatch.LOOP && random.nextInt(8) == 0;
        TcpServer.Builder builder = TcpServer.builder().dispatch(dispatch, 2).waterMarks(1 << 10, 1 << 14, 64 << 20);
        TcpServer server = (random.nextInt(3) == 0 ? builder.reactors(reactors()) : builder.manager(first))
                .start(new Chaos(random.nextLong(), blocks));
        part(server);
        List<Ending> serverEnds = new ArrayList<>();
        for (Duration deadline : DEADLINES) {
            serverEnds.add(quick("server.shutdown " + deadline, () -> server.shutdown(deadline)));
        }
        if (!blocks) {
            serverEnds.add(patient("server.close", server::close));
        }
        endings.add(serverEnds);
        if (random.nextBoolean()) {
            loop();
        }
        if (random.nextBoolean()) {
            compute();
        }
        if (random.nextInt(4) != 0) {
            client(second, server.address());
        }
        connect(server.address());
    }

    private <T> T pick(T[] from) {
        return from[random.nextInt(from.length)];
    }

    private <T> T pick(List<T> from) {
        return from.get(random.nextInt(from.size()));
    }

    private void part(AutoCloseable part) {
        parts.add(part);
    }

    private Reactors.Builder reactors() {
        return Reactors.builder()
                .backend(pick(BACKENDS))
                .reactors(1 + random.nextInt(2))
                .name("ends")
                .daemon(true);
    }

    private EventManager manager() {
        boolean foreign = random.nextInt(3) == 0; // which gets descriptors, so its backend is a native one
        Reactors reactors = (foreign ? reactors().backend("epoll") : reactors()).open();
        EventManager manager = foreign ? new ForeignManager(reactors) : reactors;
        part(manager);
        List<Ending> ends = new ArrayList<>(
                List.of(patient("manager.close", manager::close), quick("manager.shutdown", manager::shutdown)));
        for (Duration deadline : DEADLINES) {
            ends.add(quick("manager.shutdown " + deadline, () -> reactors.shutdown(deadline)));
        }
        endings.add(ends);
        threads.add(manager::execute);
        threads.add(task -> manager.schedule(Duration.ZERO, fired -> task.run()));
        threads.add(task -> manager.schedule(Duration.ofDays(1), fired -> task.run())); // when that manager ends
        return manager;
    }

    private void loop() {
        EventLoop loop = EventLoop.builder()
                .backend(pick(BACKENDS))
                .dispatch(pick(Dispatch.values()))
                .workers(1 + random.nextInt(2))
                .name("ends-loop")
                .open();
        part(loop);
        Registration source = new Registration();
        part(source);
        Thrown thrown = random.nextInt(3) == 0 ? pick(Thrown.values()) : null;
        loop.register(source, 1, Interest.READABLE, (on, token, readiness) -> {
            source.unsetReadiness(Readiness.READABLE);
            if (thrown != null) {
                thrown.raise();
            }
        });
        futures.add(loop.after(Duration.ofDays(1)));
        if (random.nextInt(4) != 0) {
            running = Background.run(() -> {
                try {
                    loop.run();
                } catch (IllegalStateException e) {
                    // It was closed before it ran.
                }
            });
        }
        source.setReadiness(Readiness.READABLE);
        List<Ending> ends = new ArrayList<>(List.of(patient("loop.close", loop::close)));
        for (Duration deadline : DEADLINES) {
            ends.add(quick("loop.shutdown " + deadline, () -> loop.shutdown(deadline)));
        }
        endings.add(ends);
        threads.add(loop::execute);
        if (random.nextBoolean()) {
            ComputePool inner = loop.compute();
            threads.add(inner::execute);
        }
    }

    private void compute() {
        ComputePool pool = ComputePool.builder()
                .threads(1 + random.nextInt(2))
                .name("ends-pool")
                .open();
        part(pool);
        for (int i = random.nextInt(5); i > 0; i--) {
            Thrown thrown = random.nextBoolean() ? null : pick(Thrown.values());
            futures.add(pool.submit(() -> {
                if (thrown != null) {
                    thrown.raise();
                }
            }));
        }
        List<Ending> ends = new ArrayList<>(List.of(
                patient("pool.close", pool::close),
                quick("pool.shutdown", pool::shutdown),
                quick("pool.shutdownNow", pool::shutdownNow)));
        for (Duration deadline : DEADLINES) {
            ends.add(quick("pool.shutdown " + deadline, () -> pool.shutdown(deadline)));
        }
        endings.add(ends);
        threads.add(pool::execute);
    }

    private void client(EventManager manager, InetSocketAddress address) {
        TcpClient client = TcpClient.builder()
                .manager(manager)
                .dispatch(pick(Dispatch.values()), 1)
                .open();
        part(client);
        endings.add(List.of(patient("client.close", client::close)));
        for (int i = random.nextInt(5); i > 0; i--) {
            futures.add(client.connect(address, new Chaos(random.nextLong(), false)));
        }
        endings.add(List.of(quick("client.connect", () -> futures.add(client.connect(address, new Chaos(1, false))))));
    }

    private void connect(InetSocketAddress address) throws IOException {
        for (int i = random.nextInt(6); i > 0; i--) {
            SocketChannel peer =
                    SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), address.getPort()));
            peers.add(peer);
            peer.configureBlocking(false);
            if (random.nextInt(3) == 0) {
                peer.setOption(StandardSocketOptions.SO_LINGER, 0);
            }
            peer.write(ByteBuffer.allocate(1 + random.nextInt(10_000)));
            boolean half = random.nextInt(4) == 0;
            endings.add(List.of(quick("peer.close", () -> {
                try {
                    if (half) {
                        peer.shutdownOutput();
                    }
                    peer.write(ByteBuffer.allocate(100));
                } catch (IOException e) {
                    // It is over already.
                } finally {
                    close(peer);
                }
            })));
        }
    }

    private static void close(AutoCloseable part) {
        try {
            part.close();
        } catch (Exception e) {
            throw new AssertionError("cannot close " + part, e);
        }
    }

    /** Ends all of it, at once, each part twice, by whatever means and on whatever thread. */
    void end() throws Exception {
        Map<CompletableFuture<Void>, String> calls = new LinkedHashMap<>();
        Ending asked = pick(pick(endings));
        fromCallback = asked.patient ? null : asked.call;
        List<Ending> order = new ArrayList<>();
        for (List<Ending> means : endings) {
            order.add(pick(means));
            if (random.nextBoolean()) {
                order.add(pick(means));
            }
        }
        Collections.shuffle(order, random);
        for (Ending end : order) {
            calls.put(start(pick(end.patient ? threads.subList(0, 2) : threads), end.call), end.name);
        }
        for (Map.Entry<CompletableFuture<Void>, String> call : calls.entrySet()) {
            await(call.getValue(), call.getKey());
        }
        gate.countDown();
    }

    /** Waits for what ends within ten seconds, whatever it waits for itself; and says what that is if it takes half of it. */
    private void await(String what, Future<?> call) throws Exception {
        try {
            try {
                call.get(5, TimeUnit.SECONDS);
            } catch (TimeoutException e) {
                System.err.println(this + ": " + what + " takes long; " + parts + "\n" + stacks());
                call.get(20, TimeUnit.SECONDS);
            }
        } catch (TimeoutException e) {
            throw new AssertionError(what + " does not return\n" + stacks(), e);
        }
    }

    /** Where the threads are that have to do with endings. Those of other seeds, too: nothing tells them apart. */
    private static String stacks() {
        StringBuilder text = new StringBuilder();
        Thread.getAllStackTraces().forEach((thread, stack) -> {
            if (Stream.of(stack).anyMatch(frame -> frame.getClassName().startsWith("io.millrace"))) {
                text.append("  ").append(thread.getName()).append('\n');
                Stream.of(stack)
                        .limit(16)
                        .forEach(frame -> text.append("    ").append(frame).append('\n'));
            }
        });
        return text.toString();
    }

    private CompletableFuture<Void> start(Consumer<Runnable> thread, Runnable end) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Runnable task = () -> {
            try {
                end.run();
                done.complete(null);
            } catch (Throwable e) {
                done.completeExceptionally(e);
            }
        };
        try {
            thread.accept(task);
        } catch (RejectedExecutionException e) {
            task.run(); // that part has ended already
        }
        // On a thread of a part that does not run, or an alarm of one that does not end, nobody would do it; somebody
        // must.
        Thread.ofPlatform().name("ends-caller").daemon().start(() -> {
            try {
                done.get(50, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                task.run();
            } catch (Exception e) {
                // It is told elsewhere.
            }
        });
        return done;
    }

    /** What must hold when all parts were ended, and those that were only asked to are waited for. */
    void check() throws Exception {
        for (SocketChannel peer : peers) {
            peer.close();
        }
        // The last first: a manager that nobody ended carries what was.
        for (AutoCloseable part : parts.reversed()) {
            FutureTask<Boolean> closing = new FutureTask<>(() -> {
                part.close();
                return true;
            });
            Thread.ofPlatform().name("ends-caller").daemon().start(closing);
            await("close of " + part, closing);
        }
        if (running != null) {
            running.result();
        }
        Await.until(
                "everybody is told: " + connects.keySet() + " began, " + disconnects.keySet() + " ended",
                () -> disconnects.keySet().equals(connects.keySet()));
        assertThat(connects.values()).allMatch(times -> times.get() == 1);
        assertThat(disconnects.values()).allMatch(times -> times.get() == 1);
        for (CompletableFuture<?> future : List.copyOf(futures)) {
            Await.until("each future has an end: " + future, future::isDone);
        }
    }

    @Override
    public String toString() {
        return "constellation of seed " + seed;
    }

    @Override
    public void close() {
        gate.countDown();
        parts.reversed().forEach(Constellation::close);
        peers.forEach(Constellation::close);
    }

    /** A handler that does anything. */
    private final class Chaos implements ConnectionHandler {
        private final Random dice;
        private final boolean mayBlock;

        Chaos(long seed, boolean mayBlock) {
            this.dice = new Random(seed);
            this.mayBlock = mayBlock;
        }

        @Override
        public void onConnect(Connection connection) {
            connects.computeIfAbsent(connection, key -> new AtomicInteger()).incrementAndGet();
            act(connection);
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            connection.send(data);
            act(connection);
        }

        @Override
        public void onEndOfInput(Connection connection) {
            if (dice.nextInt(4) != 0) {
                connection.close();
            }
            act(connection);
        }

        @Override
        public void onWritable(Connection connection) {
            act(connection);
        }

        @Override
        public void onDisconnect(Connection connection) {
            disconnects.computeIfAbsent(connection, key -> new AtomicInteger()).incrementAndGet();
            act(connection);
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            if (dice.nextInt(4) == 0) {
                Thrown.<RuntimeException>sneak(failure);
            }
        }

        private void act(Connection connection) {
            switch (dice.nextInt(20)) {
                case 0 -> connection.close();
                case 1 -> connection.abort();
                case 2 -> connection.pauseReads();
                case 3 -> connection.resumeReads();
                case 4 -> connection.closeOutput();
                case 5 -> connection.send(ByteBuffer.allocate(300_000));
                case 6 -> connection.setIdleTimeout(Duration.ofMillis(1));
                case 7, 8 -> Thrown.values()[dice.nextInt(Thrown.values().length)].raise();
                case 9 -> {
                    Runnable end = fromCallback;
                    if (end != null) {
                        end.run();
                    }
                }
                case 10 -> {
                    if (mayBlock) {
                        standStill();
                    }
                }
                default -> {}
            }
        }

        private void standStill() {
            try {
                gate.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
