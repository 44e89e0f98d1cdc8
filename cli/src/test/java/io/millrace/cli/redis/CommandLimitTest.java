package io.millrace.cli.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Reactors;
import io.millrace.poll.ManualClock;
import io.millrace.server.SendResult;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The time that a command may take")
class CommandLimitTest {
    private static final Duration LIMIT = Duration.ofSeconds(3);

    private final ManualClock clock = new ManualClock();
    private final Reactors reactors = Reactors.builder()
            .reactors(1)
            .clock(clock)
            .withoutWatchdog()
            .name("limit")
            .open();
    private final Client client = new Client();
    private final CommandLimit limit = new CommandLimit(reactors, LIMIT.toNanos(), client);

    @AfterEach
    void close() {
        reactors.close();
    }

    /** One that only ends. */
    private static final class Client implements Peer {
        volatile boolean aborted;

        @Override
        public long id() {
            return 1;
        }

        @Override
        public SendResult send(ByteBuffer data) {
            return SendResult.QUEUED;
        }

        @Override
        public long queuedBytes() {
            return 0;
        }

        @Override
        public void pauseReads() {}

        @Override
        public void resumeReads() {}

        @Override
        public void close() {}

        @Override
        public void abort() {
            aborted = true;
        }
    }

    /** Moves the clock, and waits until every alarm that is due by then has been called. */
    private void pass(Duration time) throws Exception {
        clock.advance(time);
        CompletableFuture<Void> after = new CompletableFuture<>();
        reactors.schedule(Duration.ZERO, fired -> after.complete(null));
        after.get(50, TimeUnit.SECONDS);
    }

    @Test
    @DisplayName("ends, however often a byte comes")
    void bytesNowAndThen() throws Exception {
        limit.startOrContinue(1, true);
        pass(Duration.ofSeconds(2));
        limit.startOrContinue(2, false);
        assertThat(client.aborted).isFalse();
        pass(Duration.ofSeconds(2));
        pass(Duration.ofSeconds(1));
        await().until(() -> client.aborted);
    }

    @Test
    @DisplayName("begins anew with each command")
    void eachCommand() throws Exception {
        for (int i = 0; i < 10; i++) {
            limit.startOrContinue(1, true);
            pass(Duration.ofSeconds(2));
            assertThat(client.aborted).isFalse();
        }
        limit.finish();
        pass(Duration.ofHours(1));
        assertThat(client.aborted).isFalse();
        limit.startOrContinue(1, false);
        pass(Duration.ofSeconds(2));
        assertThat(client.aborted).isFalse();
        pass(Duration.ofSeconds(2));
        await().until(() -> client.aborted);
    }

    @Test
    @DisplayName("is longer for one of which much has come")
    void largeOnes() throws Exception {
        limit.startOrContinue(1, true);
        limit.startOrContinue(100 * CommandLimit.BYTES_PER_SECOND, false);
        pass(Duration.ofSeconds(100));
        assertThat(client.aborted).isFalse();
        pass(Duration.ofSeconds(4));
        await().until(() -> client.aborted);
    }

    @Test
    @DisplayName("is nobody's once the client is gone")
    void gone() throws Exception {
        limit.startOrContinue(1, true);
        limit.end();
        limit.startOrContinue(1, true);
        pass(Duration.ofHours(1));
        assertThat(client.aborted).isFalse();
    }

    @Test
    @DisplayName("is over at its end, and not looked at before")
    void atItsEnd() throws Exception {
        limit.startOrContinue(0, true);
        pass(LIMIT.minusNanos(1));
        assertThat(client.aborted).isFalse();
        assertThat(reactors.metrics().alarmsDue()).as("that of pass").isLessThanOrEqualTo(1);
        pass(Duration.ofNanos(1));
        await().until(() -> client.aborted);
    }
}
