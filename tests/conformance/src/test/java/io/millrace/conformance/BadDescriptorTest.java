package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.millrace.net.Net;
import io.millrace.net.Pipe;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Notifier;
import io.millrace.poll.Poll;
import io.millrace.poll.Trigger;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Descriptor;
import io.millrace.sys.selector.KqueueShim;
import io.millrace.testkit.Bytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A number that is not an open file gets an error, and leaves no trace. */
@EnabledOnOs(OS.LINUX)
@DisplayName("Bad descriptors")
class BadDescriptorTest {
    private static final int NOBODYS = 19_999;

    @BeforeAll
    static void installTheEmulation() {
        KqueueShim.install();
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "kqueue", "poll", ChaosProvider.NAME})
    @DisplayName("A descriptor that is not open cannot be registered, and says so")
    void notOpen(String backend) throws IOException {
        assumeThat(backend.equals("kqueue") && KqueueShim.built().library() == null)
                .as(KqueueShim.built().reason())
                .isFalse();
        try (Poll poll = Poll.builder().backend(backend).open()) {
            KernelHandle bad = new KernelHandle(new Descriptor(NOBODYS, true));
            for (int i = 0; i < 2; i++) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> poll.register(() -> bad, 1, Interest.READABLE, Trigger.EDGE))
                        .withMessageContaining("cannot register fd " + NOBODYS)
                        .withMessageContaining("not an open file descriptor");
            }
            assertThat(poll.size()).isZero();
            assertThat(bad.toString()).as("no use is held").contains("0 in use");
            assertThatItWorks(poll);
        }
    }

    @Test
    @DisplayName("tip-12: a wait for a number that is not open says so, whatever its timeout, and does not wait")
    void notOpenToWaitFor() {
        KernelHandle bad = new KernelHandle(new Descriptor(NOBODYS, true));
        for (Duration timeout : new Duration[] {Duration.ZERO, Duration.ofHours(1), null}) {
            assertThatThrownBy(() -> Notifier.waitFor(() -> bad, Interest.READABLE, timeout))
                    .as("timeout " + timeout)
                    .isInstanceOf(UncheckedIOException.class)
                    .hasRootCauseMessage("poll on fd " + NOBODYS + " failed: EBADF (not an open file descriptor)");
        }
        assertThat(bad.toString()).as("no use is held").contains("0 in use");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, Integer.MIN_VALUE})
    @DisplayName("A negative number is no descriptor")
    void negative(int number) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Descriptor(number, true))
                .withMessageContaining("not negative");
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "kqueue", "poll", ChaosProvider.NAME})
    @DisplayName("A number that another source has registered is refused, and that source goes on")
    void registeredByAnother(String backend) throws IOException {
        assumeThat(backend.equals("kqueue") && KqueueShim.built().library() == null)
                .as(KqueueShim.built().reason())
                .isFalse();
        try (Poll poll = Poll.builder().backend(backend).open();
                Pipe pipe = Net.of(poll).pipe()) {
            poll.register(pipe.source(), 1, Interest.READABLE, Trigger.LEVEL);
            int number = ((Descriptor) ((KernelHandle) pipe.source().handle()).system()).fd();
            KernelHandle again = new KernelHandle(new Descriptor(number, true));

            assertThatIllegalStateException()
                    .isThrownBy(() -> poll.register(() -> again, 2, Interest.READABLE, Trigger.EDGE))
                    .withMessageContaining("cannot register fd " + number)
                    .withMessageContaining("already");

            assertThat(poll.size()).isEqualTo(1);
            Bytes.write(pipe.sink(), 1);
            Events events = Events.withCapacity(4);
            assertThat(poll.poll(events, Duration.ofSeconds(10))).isEqualTo(1);
            assertThat(events.advance()).isTrue();
            assertThat(events.token()).isEqualTo(1);
        }
    }

    private static void assertThatItWorks(Poll poll) throws IOException {
        try (Pipe pipe = Net.of(poll).pipe()) {
            poll.register(pipe.source(), 2, Interest.READABLE, Trigger.EDGE);
            Bytes.write(pipe.sink(), 1);
            assertThat(poll.poll(Events.withCapacity(4), Duration.ofSeconds(10)))
                    .isEqualTo(1);
        }
    }
}
