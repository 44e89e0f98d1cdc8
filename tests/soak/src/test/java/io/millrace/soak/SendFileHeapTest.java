package io.millrace.soak;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.millrace.engine.Reactors;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.TcpServer;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A file to a slow reader")
@Timeout(120)
class SendFileHeapTest {
    private static final int SIZE = 64 << 20;
    /** What a thousand and more waits and wake-ups may cost; far below what was sent. */
    private static final int ALLOWED = 4 << 20;

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("takes no heap: 64 MiB through a receive buffer of 8 KiB, every byte as it was")
    void takesNoHeap(String backend) throws Exception {
        Path file = directory.resolve("file");
        CRC32C written = new CRC32C();
        Random random = new Random(64);
        byte[] chunk = new byte[1 << 20];
        try (OutputStream out = Files.newOutputStream(file)) {
            for (int i = 0; i < SIZE; i += chunk.length) {
                random.nextBytes(chunk);
                written.update(chunk);
                out.write(chunk);
            }
        }
        CompletableFuture<Long> loop = new CompletableFuture<>();
        CompletableFuture<Long> sent = new CompletableFuture<>();
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        ConnectionHandler handler = new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) throws Exception {
                long id = Thread.currentThread().threadId();
                long before = threads.getThreadAllocatedBytes(id);
                connection.setAttachment(before);
                connection.sendFile(file);
                connection.closeOutput();
                loop.complete(id);
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {}

            @Override
            public void onDisconnect(Connection connection) {
                long before = (Long) connection.attachment();
                sent.complete(
                        threads.getThreadAllocatedBytes(Thread.currentThread().threadId()) - before);
            }
        };
        try (TcpServer server = TcpServer.builder()
                        .reactors(Reactors.builder().reactors(1).backend(backend))
                        .start(handler);
                Socket socket = new Socket()) {
            socket.setReceiveBufferSize(8_192);
            socket.connect(new InetSocketAddress(
                    InetAddress.getLoopbackAddress(), server.address().getPort()));
            loop.get(10, TimeUnit.SECONDS);
            CRC32C read = new CRC32C();
            long got = 0;
            byte[] buffer = new byte[16 << 10];
            InputStream in = socket.getInputStream();
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                read.update(buffer, 0, n);
                got += n;
            }
            assertThat(got).isEqualTo(SIZE);
            assertThat(read.getValue()).isEqualTo(written.getValue());
            socket.shutdownOutput();
            assertThat(sent.get(10, TimeUnit.SECONDS)).isLessThan(ALLOWED);
        }
    }
}
