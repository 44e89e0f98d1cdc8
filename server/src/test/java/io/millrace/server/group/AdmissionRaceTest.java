package io.millrace.server.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.support.ServerSettings;
import java.net.InetAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two threads that meet again and again at the moment at which one closes and the other is the last to leave. */
@Timeout(60)
class AdmissionRaceTest {
    private static final int ROUNDS = 50_000;
    private static final InetAddress SOMEONE = InetAddress.getLoopbackAddress();

    @Test
    @DisplayName("end-4: the last one who leaves during a close is noticed, by the one or by the other")
    void theLastOneOut() throws Exception {
        AtomicReference<@Nullable Connections> shared = new AtomicReference<>();
        AtomicInteger left = new AtomicInteger();
        Thread leaver = Thread.ofPlatform().start(() -> {
            for (int round = 1; round <= ROUNDS; round++) {
                Connections connections = shared.get();
                while (connections == null) {
                    Thread.yield(); // a machine with other work may let only one of the two run
                    connections = shared.get();
                }
                for (int i = round % 16; i > 0; i--) {
                    Thread.onSpinWait(); // a little later each time, until the two meet
                }
                connections.leave(SOMEONE);
                shared.set(null);
                left.set(round);
            }
        });
        for (int round = 1; round <= ROUNDS; round++) {
            Connections connections = new Connections(new ServerSettings(), Integer.MAX_VALUE, Integer.MAX_VALUE);
            assertThat(connections.admit(SOMEONE)).isEqualTo(Connections.Admission.TAKEN);
            shared.set(connections);
            CompletableFuture<Void> ended = connections.closeAdmission();
            while (left.get() != round) {
                Thread.yield();
            }
            assertThat(ended.isDone()).as("round %s", round).isTrue();
        }
        leaver.join();
    }
}
