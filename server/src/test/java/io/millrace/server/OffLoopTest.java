package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Callbacks off the loop")
@Timeout(60)
class OffLoopTest {
    private static final int BUFFER = 1024;

    /** Several turns: whatever the loop had to do is done. */
    private static void turns(Reactors loops) throws Exception {
        for (int i = 0; i < 8; i++) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            loops.execute(() -> done.complete(null));
            done.get(10, TimeUnit.SECONDS);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Dispatch.class,
            names = {"POOL", "VIRTUAL"})
    @DisplayName("mill-8, mill-13: a handler that is slow stops the reading, and gets all of it when it has caught up")
    void aSlowHandlerIsWaitedFor(Dispatch mode) throws Exception {
        byte[] sent = new byte[64 * BUFFER]; // which the sockets take, though nobody reads
        new Random(11).nextBytes(sent);
        ByteBuffer got = ByteBuffer.allocate(sent.length);
        CountDownLatch open = new CountDownLatch(1);
        CountDownLatch all = new CountDownLatch(sent.length);
        try (Reactors loops = Reactors.builder().reactors(1).name("test").open();
                TcpServer server = TcpServer.builder()
                        .manager(loops)
                        .dispatch(mode, 1)
                        .bufferSize(BUFFER)
                        .start((connection, data) -> {
                            open.await();
                            int size = data.remaining();
                            got.put(data);
                            for (int i = 0; i < size; i++) {
                                all.countDown();
                            }
                        });
                Socket socket = new Socket()) {
            socket.connect(server.address());
            socket.getOutputStream().write(sent);
            await().until(() -> server.bytesReceived() > 4 * BUFFER);
            turns(loops);
            assertThat(server.bytesReceived())
                    .as("four buffers, and the one that was too many")
                    .isLessThanOrEqualTo(5 * BUFFER);
            open.countDown();
            assertThat(all.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(got.array()).isEqualTo(sent);
        } finally {
            open.countDown();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Dispatch.class,
            names = {"POOL", "VIRTUAL"})
    @DisplayName("mill-6, mill-13: the buffer in which bytes travel is given back after the callback, and used again")
    void buffersAreUsedAgain(Dispatch mode) throws Exception {
        Set<byte[]> memory = Collections.newSetFromMap(new IdentityHashMap<>());
        try (TcpServer server = TcpServer.builder()
                        .reactors(Reactors.builder().reactors(1).name("test"))
                        .dispatch(mode, 1)
                        .bufferSize(BUFFER)
                        .start((connection, data) -> {
                            synchronized (memory) {
                                memory.add(data.array());
                            }
                            connection.send(data);
                        });
                Socket socket = new Socket()) {
            socket.connect(server.address());
            for (int i = 0; i < 200; i++) {
                socket.getOutputStream().write(i);
                assertThat(socket.getInputStream().read()).isEqualTo(i);
            }
        }
        // One, and another where the next byte came between the answer and the return.
        assertThat(memory).hasSizeLessThanOrEqualTo(20);
    }
}
