package io.millrace.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.TcpServer;
import io.millrace.testkit.TestConnection;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A handler that is tested without a socket: the test of docs/howto/testing-a-handler.md. */
class GreeterTest {
    private static final ConnectionHandler GREETER =
            Framing.lines(80).frames((connection, name) -> connection.send("hello " + UTF_8.decode(name) + "\n"));

    @Test
    @DisplayName("srv-17: names are greeted when they are complete, and silence ends a connection")
    void greets() {
        TcpServer.Builder settings = TcpServer.builder().idleTimeout(Duration.ofMinutes(5));
        try (TestConnection peer = TestConnection.open(settings, GREETER)) {
            peer.receive("Ann\nBo");
            assertThat(peer.sentText()).isEqualTo("hello Ann\n");
            peer.receive("b\n");
            assertThat(peer.sentText()).isEqualTo("hello Ann\nhello Bob\n");
            peer.advance(Duration.ofMinutes(5));
            assertThat(peer.isClosed()).isTrue();
        }
    }

    @Test
    @DisplayName("srv-17: it does not matter how the bytes arrive")
    void everySplit() {
        TestConnection.receiveAtEverySplit(
                () -> TestConnection.open(GREETER),
                "Ann\nBob\n".getBytes(UTF_8),
                peer -> assertThat(peer.sentText()).isEqualTo("hello Ann\nhello Bob\n"));
    }
}
