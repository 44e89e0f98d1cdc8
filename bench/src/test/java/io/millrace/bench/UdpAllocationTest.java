package io.millrace.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.millrace.engine.Reactors;
import io.millrace.server.UdpServer;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("srv-14: an echo of datagrams")
@Timeout(180)
class UdpAllocationTest {
    private static final int MESSAGES = 2_000;

    @Test
    @DisplayName("srv-14: allocates nothing for a datagram and its answer")
    void allocatesNothing() throws Exception {
        CompletableFuture<Thread> loop = new CompletableFuture<>();
        try (UdpServer server = UdpServer.builder()
                        .reactors(Reactors.builder().reactors(1).backend("epoll"))
                        .start((from, data) -> {
                            loop.complete(Thread.currentThread());
                            from.reply(data);
                        });
                DatagramChannel peer = DatagramChannel.open().connect(server.address())) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(64);
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            exchange(peer, buffer);
            long id = loop.get(10, TimeUnit.SECONDS).threadId();
            // Until it is compiled, if that is what it takes: the timeout is the limit.
            long bytes;
            do {
                long before = threads.getThreadAllocatedBytes(id);
                for (int i = 0; i < MESSAGES; i++) {
                    exchange(peer, buffer);
                }
                bytes = threads.getThreadAllocatedBytes(id) - before;
            } while (bytes >= MESSAGES);
            assertThat(bytes).isLessThan(MESSAGES);
        }
    }

    private static void exchange(DatagramChannel peer, ByteBuffer buffer) throws Exception {
        peer.write(buffer.clear());
        peer.read(buffer.clear());
        assertThat(buffer.hasRemaining()).isFalse();
    }
}
