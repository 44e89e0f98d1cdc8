package io.millrace.conformance;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Reactors;
import io.millrace.server.DirectServer;
import io.millrace.server.DirectSocket;
import io.millrace.server.TcpServer;
import io.millrace.testkit.Await;
import io.millrace.testkit.Reports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** At most one line a second is logged, and says how many were left out: so those count too. */
@DisplayName("What is reported of conversations that throw")
class DirectReportsTest {
    private final AtomicInteger begun = new AtomicInteger();

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName(
            "vt-1 a mistake is reported with its stack; an exception that tells of the peer is none, wrapped or not, whatever"
                    + " the conversation is told of after it")
    void mistakes(boolean onLoops) {
        try (Reports reports = new Reports();
                Reactors reactors =
                        Reactors.builder().reactors(1).withoutWatchdog().open(); // it reports, too
                DirectServer server = DirectServer.start(
                        TcpServer.builder().manager(reactors).loopThreads(onLoops), this::converse)) {
            awaitLine(reports, server);
            meet(server, "reads");
            meet(server, "wraps");
            meet(server, "cleans up");
            int mistakes = awaitLine(reports, server);
            String leftOut = mistakes == 1 ? "closing it" : (mistakes - 1) + " more like this were left out";
            assertThat(reports.lines())
                    .hasSize(2)
                    .allSatisfy(line -> assertThat(line)
                            .contains("threw; closing it", "IllegalStateException: by mistake", "DirectReportsTest"));
            assertThat(reports.lines().getLast()).contains(leftOut);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void converse(DirectSocket socket) throws IOException {
        String line = socket.readLine(10);
        begun.incrementAndGet();
        switch (line) {
            case "wraps" -> {
                try {
                    socket.readLine(10);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
            case "cleans up" -> {
                try {
                    socket.readLine(10);
                } catch (IOException e) {
                    try {
                        socket.write("farewell\n");
                        socket.flush();
                    } catch (IOException told) {
                        e.addSuppressed(told);
                    }
                    throw e;
                }
            }
            case "throws" -> throw new IllegalStateException("by mistake");
            case null, default -> socket.readLine(10);
        }
    }

    /** Makes mistakes until one is logged, and returns how many there were. */
    private int awaitLine(Reports reports, DirectServer server) {
        int before = reports.count();
        AtomicInteger mistakes = new AtomicInteger();
        Await.until("a line", () -> {
            meet(server, "throws");
            mistakes.incrementAndGet();
            return reports.count() > before;
        });
        return mistakes.get();
    }

    /** Has a conversation, which the peer resets, and waits for its end. */
    private void meet(DirectServer server, String what) {
        try (Socket peer =
                new Socket(server.address().getAddress(), server.address().getPort())) {
            int before = begun.get();
            peer.getOutputStream().write((what + "\n").getBytes(US_ASCII));
            Await.until(what + " begins", () -> begun.get() > before);
            peer.setSoLinger(true, 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Await.until(what + " ends", () -> server.remaining().isEmpty());
    }
}
