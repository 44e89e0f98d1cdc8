package io.millrace.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.millrace.engine.Reactors;
import io.millrace.poll.ManualClock;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.TcpServer;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("An echo on the loop")
@Timeout(180)
class EchoAllocationTest {
    private static final int MESSAGES = 2_000;

    // On epoll: what JaCoCo's probes keep the compiler from leaving out of the emulated triggers of poll(2) is not ours
    // to count.
    @Test
    @DisplayName("allocates nothing, with watchdog and metrics on")
    void allocatesNothing() throws Exception {
        allocatesNothing(
                TcpServer.builder().reactors(Reactors.builder().reactors(1).backend("epoll")), () -> {});
    }

    @Test
    @DisplayName("allocates nothing when its idle timeout is put off, again and again")
    void putsItsTimeoutOff() throws Exception {
        ManualClock clock = new ManualClock();
        TcpServer.Builder server = TcpServer.builder()
                .idleTimeout(Duration.ofSeconds(3))
                .reactors(Reactors.builder()
                        .reactors(1)
                        .backend("epoll")
                        .clock(clock)
                        .withoutWatchdog());
        // Never idle for three seconds, and in two of three messages the alarm fires and finds that out.
        allocatesNothing(server, () -> clock.advance(Duration.ofSeconds(2)));
    }

    private static void allocatesNothing(TcpServer.Builder builder, Runnable beforeEach) throws Exception {
        CompletableFuture<Thread> loop = new CompletableFuture<>();
        ConnectionHandler echo = new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) {
                loop.complete(Thread.currentThread());
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {
                connection.send(data);
            }
        };
        try (TcpServer server = builder.start(echo);
                Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            long id = loop.get(10, TimeUnit.SECONDS).threadId();
            // Until it is compiled, if that is what it takes: the timeout is the limit.
            long bytes;
            do {
                long before = threads.getThreadAllocatedBytes(id);
                for (int i = 0; i < MESSAGES; i++) {
                    beforeEach.run();
                    socket.getOutputStream().write(i);
                    assertThat(socket.getInputStream().read()).isEqualTo(i & 0xff);
                }
                bytes = threads.getThreadAllocatedBytes(id) - before;
            } while (bytes >= MESSAGES);
            assertThat(bytes).isLessThan(MESSAGES);
        }
    }
}
