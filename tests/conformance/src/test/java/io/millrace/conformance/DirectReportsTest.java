package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Reactors;
import io.millrace.server.DirectServer;
import io.millrace.server.TcpServer;
import io.millrace.testkit.Await;
import io.millrace.testkit.Reports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("What is reported of conversations that throw")
class DirectReportsTest {
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("vt-1 a mistake is reported with its stack; an exception that tells of the peer is none, wrapped or not")
    void mistakes(boolean onLoops) throws Exception {
        AtomicInteger ended = new AtomicInteger();
        CountDownLatch read = new CountDownLatch(3);
        try (Reports reports = new Reports();
                Reactors reactors = Reactors.builder().reactors(1).open();
                DirectServer server =
                        DirectServer.start(TcpServer.builder().manager(reactors).loopThreads(onLoops), socket -> {
                            try {
                                String line = socket.readLine(10);
                                read.countDown();
                                switch (line) {
                                    case "wraps" -> {
                                        try {
                                            socket.readLine(10);
                                        } catch (IOException e) {
                                            throw new UncheckedIOException(e);
                                        }
                                    }
                                    case "throws" -> throw new IllegalStateException("by mistake");
                                    case null, default -> socket.readLine(10);
                                }
                            } finally {
                                ended.incrementAndGet();
                            }
                        })) {
            for (String what : new String[] {"reads", "wraps", "throws"}) {
                try (Socket peer = new Socket(
                        server.address().getAddress(), server.address().getPort())) {
                    long before = read.getCount();
                    peer.getOutputStream().write((what + "\n").getBytes(java.nio.charset.StandardCharsets.US_ASCII));
                    Await.until(what, () -> read.getCount() < before);
                    peer.setSoLinger(true, 0); // a reset
                }
            }
            Await.until("all have ended", () -> ended.get() == 3 && server.remaining().isEmpty());
            assertThat(reports.lines())
                    .singleElement()
                    .asString()
                    .contains("threw; closing it", "IllegalStateException: by mistake", "DirectReportsTest");
        }
    }
}
