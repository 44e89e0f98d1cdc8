package io.millrace.examples.tutorial;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.testkit.TestConnection;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Step 6 of the tutorial: the chat is tested without a socket, a thread or a moment of waiting. */
@DisplayName("step 6: guests of the chat")
class GuestTest {
    private static TestConnection guest() {
        return TestConnection.open(Chat4Timeouts.settings(0), connection -> Chat4Timeouts.guest());
    }

    @Test
    void everyLineGoesToEverybody() {
        try (TestConnection ann = guest();
                TestConnection bob = ann.openAnother()) {
            ann.receive("Ann\nhello\n");
            bob.receive("Bob\n");
            assertThat(bob.sentText()).isEqualTo("Your name?\nAnn is here\nAnn: hello\nBob is here\n");
            bob.endOfInput();
            assertThat(ann.sentText()).endsWith("Bob is here\nBob has left\n");
        }
    }

    @Test
    void itDoesNotMatterHowTheBytesArrive() {
        TestConnection.receiveAtEverySplit(
                GuestTest::guest,
                "Ann\nhello\n".getBytes(UTF_8),
                ann -> assertThat(ann.sentText()).isEqualTo("Your name?\nAnn is here\nAnn: hello\n"));
    }

    @Test
    void silenceEndsAConnection() {
        try (TestConnection ann = guest()) {
            ann.receive("Ann\n");
            ann.advance(Duration.ofMinutes(10).minusNanos(1));
            assertThat(ann.hasOutputEnded()).isFalse();
            ann.advance(Duration.ofNanos(1));
            assertThat(ann.sentText()).endsWith("You have been silent for too long.\n");
            assertThat(ann.hasOutputEnded()).isTrue();
        }
    }

    @Test
    void aLineMustNotTakeForEver() {
        try (TestConnection ann = guest()) {
            ann.receive("A");
            ann.advance(Duration.ofSeconds(30));
            assertThat(ann.isClosed()).isTrue();
        }
    }

    @Test
    void aGuestWhoDoesNotReadIsCutOff() {
        try (TestConnection ann = guest();
                TestConnection bob = ann.openAnother()) {
            bob.receive("Bob\n");
            bob.peerStopsReading();
            ann.receive("Ann\n" + ("x".repeat(1_000) + "\n").repeat(300));
            assertThat(bob.wasReset()).isTrue();
            assertThat(ann.sentText()).contains("Bob has left\n");
        }
    }
}
