package io.millrace.conformance;

import io.millrace.engine.Dispatch;
import io.millrace.engine.EventLoop;
import io.millrace.engine.Priority;
import io.millrace.engine.Reactors;
import io.millrace.engine.pool.ComputePool;
import io.millrace.poll.Interest;
import io.millrace.poll.ManualClock;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.server.Connection;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import io.millrace.testkit.Await;
import io.millrace.testkit.Background;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * Something that is to be ended: it can be held up by a handler, and can have its end asked for by its own callbacks. Its clock is the test's; its threads are called {@code tested…}.
 */
abstract class Ended implements AutoCloseable {
    final ManualClock clock = new ManualClock();
    final CountDownLatch gate = new CountDownLatch(1);
    final CountDownLatch entered = new CountDownLatch(1);

    /** Asks for the end, waits as long as it says, and returns what is left. */
    abstract List<String> shutdown(Duration atMost) throws Exception;

    /** Whether nothing of it is left. */
    abstract boolean hasEnded();

    /** Has a handler of it stand still until {@link #gate} opens. */
    abstract void block() throws Exception;

    /** Ways to run something in a callback of it, none of which {@link #block} keeps from running. */
    abstract Map<String, Consumer<Runnable>> insides();

    void standStill() {
        entered.countDown();
        try {
            gate.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public abstract void close();

    /** What the end must have told by now, exactly once. */
    void check() {}

    /** What the test itself holds. */
    void letGo() throws Exception {}

    // ---- The kinds ----

    static final class OfReactors extends Ended {
        final Reactors manager = Managers.EPOLL.reactors(clock).open();

        @Override
        List<String> shutdown(Duration atMost) {
            return manager.shutdown(atMost);
        }

        @Override
        public void close() {
            manager.close();
        }

        @Override
        boolean hasEnded() {
            return manager.isTerminated();
        }

        @Override
        void block() {
            manager.execute(this::standStill); // the first of two reactors; what is next goes to the other
        }

        @Override
        Map<String, Consumer<Runnable>> insides() {
            return Map.of("task", manager::execute, "alarm", action -> {
                manager.schedule(Duration.ZERO, fired -> action.run());
                clock.advance(Duration.ofMillis(1));
            });
        }
    }

    static final class OfCompute extends Ended {
        private final ComputePool pool = ComputePool.builder()
                .threads(2)
                .name("tested")
                .daemon(true)
                .clock(clock)
                .open();

        @Override
        List<String> shutdown(Duration atMost) {
            return pool.shutdown(atMost);
        }

        @Override
        public void close() {
            pool.close();
        }

        @Override
        boolean hasEnded() {
            return pool.isTerminated();
        }

        @Override
        void block() {
            pool.execute(this::standStill);
        }

        @Override
        Map<String, Consumer<Runnable>> insides() {
            return Map.of("compute task", pool::execute);
        }
    }

    static final class OfLoop extends Ended {
        private final EventLoop loop;
        private final Registration blocker = new Registration();
        private final Registration trigger = new Registration();
        private final AtomicReference<Runnable> action = new AtomicReference<>(() -> {});
        private final Background<Boolean> running;
        private final boolean onLoop;

        OfLoop(Dispatch dispatch) {
            onLoop = dispatch == Dispatch.LOOP;
            loop = EventLoop.builder()
                    .dispatch(dispatch)
                    .workers(2)
                    .name("tested")
                    .clock(clock)
                    .withoutWatchdog()
                    .open();
            // In this order: with two loops each has one.
            loop.register(blocker, 1, Interest.READABLE, (on, token, readiness) -> {
                blocker.unsetReadiness(Readiness.READABLE);
                standStill();
            });
            loop.register(trigger, 2, Interest.READABLE, (on, token, readiness) -> {
                trigger.unsetReadiness(Readiness.READABLE);
                action.get().run();
            });
            CountDownLatch runs = new CountDownLatch(1);
            loop.execute(runs::countDown);
            running = Background.run(loop::run);
            Await.until("it runs", () -> runs.getCount() == 0);
        }

        @Override
        List<String> shutdown(Duration atMost) {
            return loop.shutdown(atMost);
        }

        @Override
        public void close() {
            loop.close();
        }

        @Override
        boolean hasEnded() {
            return running.isDone();
        }

        @Override
        void block() {
            blocker.setReadiness(Readiness.READABLE);
        }

        @Override
        Map<String, Consumer<Runnable>> insides() {
            Map<String, Consumer<Runnable>> all = new LinkedHashMap<>();
            all.put("handler", what -> {
                action.set(what);
                trigger.setReadiness(Readiness.READABLE);
            });
            all.put("compute task", what -> loop.compute().execute(what));
            if (!onLoop) { // else the first of the loops may be the one that stands still
                all.put("task", loop::execute);
                all.put("alarm", what -> {
                    loop.schedule(Duration.ZERO, fired -> what.run(), Priority.NORMAL);
                    clock.advance(Duration.ofMillis(1));
                });
            }
            return all;
        }
    }

    /** A handler that stands still, sends a lot, or does what the test says, as its peer asks for. */
    private class Asked extends Calls {
        @Override
        public void onData(Connection connection, ByteBuffer data) {
            switch (data.get()) {
                case 'b' -> standStill();
                case 'u' -> {
                    connection.send(ByteBuffer.allocate(32 << 20));
                    entered.countDown();
                }
                default -> asked.get().run();
            }
        }
    }

    final AtomicReference<Runnable> asked = new AtomicReference<>(() -> {});

    static final class OfServer extends Ended {
        private final Asked calls = new Asked();
        private final TcpServer server;
        private final Socket first;
        private final Socket second;

        OfServer(Dispatch dispatch) throws IOException {
            server = TcpServer.builder()
                    .reactors(Managers.EPOLL.reactors(clock))
                    .reusePort(false) // so the two are on different loops
                    .dispatch(dispatch, 2)
                    .start(calls);
            first = new Socket(
                    InetAddress.getLoopbackAddress(), server.address().getPort());
            calls.awaitConnected(1);
            second = new Socket(
                    InetAddress.getLoopbackAddress(), server.address().getPort());
            calls.awaitConnected(2);
        }

        @Override
        List<String> shutdown(Duration atMost) {
            return server.shutdown(atMost).remaining();
        }

        @Override
        public void close() {
            server.close();
        }

        @Override
        boolean hasEnded() {
            return calls.disconnected() == 2;
        }

        @Override
        void block() throws IOException {
            second.getOutputStream().write('b');
        }

        void sendUnread() throws IOException {
            second.getOutputStream().write('u');
            Await.until("it is sent, and most of it waits", () -> entered.getCount() == 0);
        }

        @Override
        Map<String, Consumer<Runnable>> insides() {
            return Map.of("callback", what -> ask(first, what));
        }

        private void ask(Socket socket, Runnable what) {
            asked.set(what);
            try {
                socket.getOutputStream().write('c');
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        void check() {
            calls.awaitAllEnded();
        }

        @Override
        void letGo() throws IOException {
            first.close();
            second.close();
        }
    }

    static final class OfClient extends Ended {
        private final Asked calls = new Asked();
        private final Reactors manager =
                Managers.EPOLL.reactors(clock).name("carrier").open();
        private final TcpClient client;
        private final ServerSocket listener;
        private final Socket first;
        private final Socket second;

        OfClient(Dispatch dispatch) throws Exception {
            client = TcpClient.builder().manager(manager).dispatch(dispatch, 2).open();
            listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
            InetSocketAddress address = (InetSocketAddress) listener.getLocalSocketAddress();
            client.connect(address, calls).get();
            first = listener.accept();
            client.connect(address, calls).get();
            second = listener.accept();
        }

        @Override
        List<String> shutdown(Duration atMost) {
            client.close(); // it has no other
            return List.of();
        }

        @Override
        public void close() {
            client.close();
        }

        @Override
        boolean hasEnded() {
            return calls.disconnected() == 2;
        }

        @Override
        void block() throws IOException {
            second.getOutputStream().write('b');
        }

        @Override
        Map<String, Consumer<Runnable>> insides() {
            return Map.of("callback", what -> {
                asked.set(what);
                try {
                    first.getOutputStream().write('c');
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
        }

        @Override
        void check() {
            calls.awaitAllEnded();
        }

        @Override
        void letGo() throws IOException {
            first.close();
            second.close();
            listener.close();
            Background<Boolean> closing = Background.run(manager::close);
            Clocks.advanceUntilDone(clock, closing);
        }
    }
}
