package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.internal.Uninterruptibly;
import io.millrace.net.Net;
import io.millrace.net.TcpListener;
import io.millrace.net.TcpStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("How descriptors end")
@Timeout(30)
class DescriptorEndTest {
    private static InetSocketAddress anyPort() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    @Test
    @DisplayName("end-1, grpc-12: a close tells the write that is pending, though the callback of the read throws")
    void bothAreTold() throws Exception {
        try (Reactors manager = Reactors.builder().reactors(1).name("test").open();
                TcpListener listener = Net.standard().listen(anyPort())) {
            TcpStream stream = Net.standard().connect(listener.localAddress());
            CompletionDescriptor descriptor = manager.registerCompletion(stream);
            CompletableFuture<WriteResult> written = new CompletableFuture<>();
            descriptor.read(() -> ByteBuffer.allocate(10), result -> {
                throw new AssertionError("meant so");
            });
            // More than any socket takes, and nobody reads.
            descriptor.write(List.of(ByteBuffer.allocate(64 << 20)), null, written::complete);
            descriptor.close();
            assertThat(written.get(10, TimeUnit.SECONDS)).isInstanceOf(WriteResult.Closed.class);
        }
    }

    @Test
    @DisplayName(
            "end-2, grpc-18: a reactor that has ended takes no descriptor, though another one of its manager is held up")
    void tooLate() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch open = new CountDownLatch(1);
        try (Reactors manager = Reactors.builder()
                        .reactors(2)
                        .withoutWatchdog()
                        .name("too-late")
                        .open();
                TcpListener listener = Net.standard().listen(anyPort())) {
            manager.execute(() -> {
                entered.countDown();
                Uninterruptibly.await(open);
            });
            assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();
            manager.shutdown();
            await().until(() -> Thread.getAllStackTraces().keySet().stream()
                            .filter(each -> each.getName().startsWith("too-late"))
                            .count()
                    == 1);
            AtomicInteger completions = new AtomicInteger();
            AtomicInteger readinesses = new AtomicInteger();
            for (int i = 0; i < 2; i++) { // one for each reactor
                TcpStream stream = Net.standard().connect(listener.localAddress());
                refused(completions, stream, () -> manager.registerCompletion(stream));
            }
            for (int i = 0; i < 2; i++) {
                TcpStream stream = Net.standard().connect(listener.localAddress());
                refused(readinesses, stream, () -> manager.register(stream));
            }
            assertThat(completions).hasValue(1);
            assertThat(readinesses).hasValue(1);
            open.countDown();
            assertThat(manager.shutdown(Duration.ofSeconds(10))).isEmpty();
        } finally {
            open.countDown();
        }
    }

    private static void refused(AtomicInteger count, TcpStream stream, Runnable register) {
        try {
            register.run();
        } catch (RejectedExecutionException e) {
            count.incrementAndGet();
            stream.close();
        }
    }
}
