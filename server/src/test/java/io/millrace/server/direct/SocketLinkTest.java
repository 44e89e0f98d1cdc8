package io.millrace.server.direct;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Reactors;
import io.millrace.server.TcpServer;
import io.millrace.server.connection.PerConnection;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A link between a thread and its connection")
@Timeout(30)
class SocketLinkTest {
    private final CompletableFuture<SocketLink> made = new CompletableFuture<>();
    private Reactors reactors;
    private TcpServer server;
    private Socket peer;
    private SocketLink link;

    @BeforeEach
    void connect() throws Exception {
        reactors =
                Reactors.builder().reactors(1).backend("poll").withoutWatchdog().open();
        server = TcpServer.builder().manager(reactors).start(new PerConnection(connection -> {
            SocketLink created = new SocketLink(connection, true, null);
            made.complete(created);
            return created;
        }));
        peer = new Socket(server.address().getAddress(), server.address().getPort());
        peer.setSoTimeout(20_000);
        link = made.get(20, TimeUnit.SECONDS);
    }

    @AfterEach
    void close() throws IOException {
        peer.close();
        server.shutdown(Duration.ofSeconds(5));
        reactors.close();
    }

    @Test
    @DisplayName(
            "vt-4 a writer that begins to wait when another thread has closed the output, and all is sent, does not wait")
    void outputClosedElsewhere() throws Exception {
        link.connection().closeOutput();
        assertThat(peer.getInputStream().read()).isNegative();
        link.awaitWritable(true, link.nanoTime() + Duration.ofSeconds(5).toNanos()); // throws after that time
    }

    @Test
    @DisplayName(
            "vt-4 a thread whose answer fails on the loop, for lack of memory perhaps, is told of the connection's end")
    void answerFails() throws Exception {
        CompletableFuture<Object> read = new CompletableFuture<>();
        Thread reader = Thread.ofVirtual().start(() -> {
            try {
                read.complete(link.read(null, false, 0, new SocketLink.Bytes()));
            } catch (IOException e) {
                read.complete(e);
            }
        });
        await().until(() -> reader.getState() == Thread.State.WAITING);
        CompletableFuture<Void> failed = new CompletableFuture<>();
        link.connection().loop().execute(() -> {
            try {
                link.onData(link.connection(), null); // as good as any failure
            } catch (Throwable e) {
                failed.completeExceptionally(e);
            }
        });
        assertThatThrownBy(() -> failed.get(20, TimeUnit.SECONDS)).hasRootCauseInstanceOf(NullPointerException.class);
        link.connection().abort();
        assertThat(read.get(20, TimeUnit.SECONDS)).isInstanceOf(IOException.class);
    }
}
