package io.millrace.engine.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.Reactors;
import io.millrace.net.TcpStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A connection on a reactor")
@Timeout(60)
class SocketTransportTest {
    /** Fails when it gets something, and has its peer see a reset. */
    private static final class Failing implements TransportSink {
        final CompletableFuture<String> failed = new CompletableFuture<>();
        private final TcpStream stream;

        Failing(TcpStream stream) {
            this.stream = stream;
        }

        @Override
        public void onReceived(ByteBuffer data) {
            throw new IllegalStateException("of the test");
        }

        @Override
        public void onEndOfInput() {
            failed.complete("end of input");
        }

        @Override
        public void onWritable() {}

        @Override
        public void onFailed(IOException cause) {
            try {
                stream.setLinger(Duration.ZERO);
                failed.complete("told in time");
            } catch (IOException | RuntimeException e) {
                failed.complete("told too late: " + e);
            }
        }

        @Override
        public void onLoopEnd() {}
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("end-9: one that fails is closed after its sink was told, which can so have the peer see a reset")
    void toldBeforeTheClose(String backend) throws Exception {
        try (Reactors reactors = Reactors.builder()
                        .reactors(1)
                        .backend(backend)
                        .name("test")
                        .open();
                ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            ServerLoop loop = TransportAccess.get().loops(reactors).getFirst();
            CompletableFuture<Failing> attached = new CompletableFuture<>();
            loop.execute(() -> {
                try {
                    TcpStream stream = loop.net().connect((InetSocketAddress) listener.getLocalSocketAddress());
                    Failing sink = new Failing(stream);
                    loop.attach(stream, sink, 1024);
                    attached.complete(sink);
                } catch (IOException | RuntimeException e) {
                    attached.completeExceptionally(e);
                }
            });
            Failing sink = attached.get(10, TimeUnit.SECONDS);
            try (Socket peer = listener.accept()) {
                peer.setSoTimeout(10_000);
                peer.getOutputStream().write(1);
                assertThat(sink.failed.get(10, TimeUnit.SECONDS)).isEqualTo("told in time");
                assertThatThrownBy(() -> peer.getInputStream().read()).isInstanceOf(SocketException.class);
            }
        }
    }
}
