package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Priority;
import io.millrace.engine.Reactors;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** How much of one connection a turn reads. */
class ReadShareTest {
    private static final int SHARE = 1 << 20;
    private static final int BUFFER = 256 << 10;
    private static final int ENOUGH = 32 << 20;

    @Test
    @DisplayName("a peer that sends without end has a mebibyte read in a turn, and then it is the others' turn")
    void aShareOfEachTurn() throws Exception {
        try (Reactors manager = Reactors.builder().reactors(1).open();
                SocketChannel peer = SocketChannel.open()) {
            Reader reader = new Reader(manager, peer);
            try (TcpServer server =
                    TcpServer.builder().manager(manager).bufferSize(BUFFER).start(reader)) {
                peer.connect(server.address());
                peer.configureBlocking(false);
                peer.write(ByteBuffer.allocate(1));
                assertThat(reader.most.get(20, TimeUnit.SECONDS)).isPositive().isLessThan(SHARE + BUFFER);
            }
        }
    }

    /** Lets the peer send as much as fits before each read, and notes how much a turn reads at most. All on the loop. */
    private static final class Reader implements ConnectionHandler {
        final CompletableFuture<Integer> most = new CompletableFuture<>();
        private final Reactors manager;
        private final SocketChannel peer;
        private final ByteBuffer bytes = ByteBuffer.allocateDirect(BUFFER);
        private int all;
        private int inTurn;
        private int mostInTurn;

        Reader(Reactors manager, SocketChannel peer) {
            this.manager = manager;
            this.peer = peer;
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) throws IOException {
            if (inTurn == 0) {
                // What is queued in a turn runs in the next, and what is HIGH before what that one reads.
                manager.run(this::turnEnded, Priority.HIGH);
            }
            inTurn += data.remaining();
            all += data.remaining();
            while (all < ENOUGH && peer.write(bytes) > 0) {
                bytes.clear();
            }
        }

        private void turnEnded() {
            mostInTurn = Math.max(mostInTurn, inTurn);
            inTurn = 0;
            if (all >= ENOUGH) {
                most.complete(mostInTurn);
            }
        }
    }
}
