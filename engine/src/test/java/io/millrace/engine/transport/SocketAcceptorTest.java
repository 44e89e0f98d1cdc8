package io.millrace.engine.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Reactors;
import io.millrace.net.ByteStream;
import io.millrace.net.TcpListener;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Accepting on a reactor")
@Timeout(60)
class SocketAcceptorTest {
    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("end-1: who waited while an accept failed for want of memory is accepted, though nobody else connects")
    void withoutMemory(String backend) throws Exception {
        AtomicInteger failures = new AtomicInteger();
        CompletableFuture<ByteStream> accepted = new CompletableFuture<>();
        try (Reactors reactors =
                Reactors.builder().reactors(1).backend(backend).name("test").open()) {
            ReactorServerLoop loop =
                    (ReactorServerLoop) TransportAccess.get().loops(reactors).getFirst();
            TcpListener listener = loop.net().listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            SocketAcceptor acceptor = new SocketAcceptor(loop, listener, accepted::complete, failure -> {}) {
                @Override
                @Nullable
                ByteStream next() throws IOException {
                    if (failures.incrementAndGet() <= 3) {
                        throw new OutOfMemoryError("of the test");
                    }
                    return super.next();
                }
            };
            acceptor.begin();
            try (Socket peer = new Socket(
                    InetAddress.getLoopbackAddress(), listener.localAddress().getPort())) {
                ByteStream stream = accepted.get(10, TimeUnit.SECONDS);
                assertThat(failures).hasValueGreaterThan(3);
                stream.close();
                assertThat(peer.getInputStream().read()).isEqualTo(-1);
            }
        }
    }
}
