package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.internal.Uninterruptibly;
import io.millrace.net.Net;
import io.millrace.net.TcpListener;
import io.millrace.net.TcpStream;
import io.millrace.poll.Interest;
import io.millrace.poll.Readiness;
import io.millrace.poll.Source;
import io.millrace.poll.SourceHandle;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What another thread does between the steps of a control call, made to happen every time. */
@DisplayName("Two threads that change one registration")
@Timeout(60)
class RegistrationRaceTest {
    /** A socket whose handle is asked for before the poll is told: there another thread can come in between. */
    private static final class Interrupted implements Source, AutoCloseable {
        final TcpStream socket;
        private volatile @Nullable Runnable meanwhile;

        Interrupted(TcpStream socket) {
            this.socket = socket;
        }

        /** Does this once, when the handle is asked for next. */
        void meanwhile(Runnable other) {
            meanwhile = other;
        }

        @Override
        public SourceHandle handle() {
            Runnable other = meanwhile;
            if (other != null) {
                meanwhile = null;
                other.run();
            }
            return socket.handle();
        }

        @Override
        public void close() {
            socket.close();
        }
    }

    private static Net net(String backend) {
        return backend.equals("nio") ? Net.nio() : Net.natively();
    }

    /** Both ends of a connection; the accepted one has room to write. */
    private record Ends(Socket client, Interrupted accepted) implements AutoCloseable {
        static Ends open(String backend, boolean readable) throws IOException {
            try (TcpListener listener =
                    net(backend).listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
                Socket client = new Socket(
                        InetAddress.getLoopbackAddress(),
                        listener.localAddress().getPort());
                if (readable) {
                    client.getOutputStream().write(1);
                }
                TcpStream[] accepted = new TcpStream[1];
                await().until(() -> (accepted[0] = listener.accept()) != null);
                return new Ends(client, new Interrupted(accepted[0]));
            }
        }

        @Override
        public void close() throws IOException {
            client.close();
            accepted.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("mill-1, mio-26: of two reregistrations the later one holds, for the kernel and for the handler")
    void twoReregistrations(String backend) throws Exception {
        Set<Readiness> seen = ConcurrentHashMap.newKeySet();
        AtomicInteger calls = new AtomicInteger();
        try (Ends ends = Ends.open(backend, true);
                EventLoop loop = EventLoop.builder()
                        .backend(backend)
                        .dispatch(Dispatch.LOOP)
                        .workers(1)
                        .withoutWatchdog()
                        .open()) {
            Thread runner = Thread.ofPlatform().start(loop::run);
            loop.register(
                    ends.accepted, 1, Interest.NONE, Trigger.LEVEL, Priority.NORMAL, (unused, token, readiness) -> {
                        seen.add(readiness);
                        calls.incrementAndGet();
                    });
            ends.accepted.meanwhile(() -> loop.reregister(1, Interest.WRITABLE, Trigger.LEVEL));

            whileBlocked(loop, () -> loop.reregister(1, Interest.READABLE, Trigger.LEVEL));

            // It is ready for either: whichever holds, its handler is called.
            await().untilAsserted(() -> assertThat(calls.get()).isGreaterThan(3));
            assertThat(seen).hasSize(1);
            loop.stop();
            runner.join();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"poll", "nio"})
    @DisplayName(
            "grpc-9: whoever waits for one direction is told, though another thread waits for the other one and nothing comes there")
    void twoDirections(String backend) throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        try (Ends ends = Ends.open(backend, false);
                Reactors manager = Reactors.builder()
                        .reactors(1)
                        .backend(backend)
                        .withoutWatchdog()
                        .open()) {
            ReadinessDescriptor descriptor = manager.register(ends.accepted);
            ends.accepted.meanwhile(() -> descriptor.notifyWhenWritable(told::countDown));

            whileBlocked(manager, () -> descriptor.notifyWhenReadable(() -> {}));
            assertThat(told.await(10, TimeUnit.SECONDS)).isTrue();
            descriptor.close();
        }
    }

    /** The loop looks at nothing before this is done. */
    private static void whileBlocked(Executor loop, Runnable action) throws InterruptedException {
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);
        loop.execute(() -> {
            blocked.countDown();
            Uninterruptibly.await(done);
        });
        blocked.await();
        try {
            action.run();
        } finally {
            done.countDown();
        }
    }
}
