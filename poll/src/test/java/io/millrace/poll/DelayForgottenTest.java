package io.millrace.poll;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The wheel of a poll holds nodes, which only this package can see. */
@DisplayName("Delays of registrations that are gone")
class DelayForgottenTest {
    private static final Duration LONG = Duration.ofDays(1);

    private final Poll poll = Poll.open();
    private final Events events = Events.withCapacity(16);

    @AfterEach
    void close() {
        poll.close();
    }

    @Test
    @DisplayName("end-7: a closed registration's delay does not keep it")
    void closed() {
        assertForgotten(Registration::close);
    }

    @Test
    @DisplayName("end-7: nor does that of one which was deregistered and dropped")
    void deregistered() {
        assertForgotten(poll::deregister);
    }

    @Test
    @DisplayName("end-7: nor one that was cancelled by an immediate set, or by a replacement, before the close")
    void cancelledBefore() {
        assertForgotten(registration -> {
            registration.setReadiness(Readiness.READABLE);
            registration.close();
        });
        assertForgotten(registration -> {
            registration.replaceReadiness(Readiness.NONE);
            registration.close();
        });
    }

    @Test
    @DisplayName("end-7: nor one that the poll has not seen yet")
    void closedBeforeThePollSawIt() {
        List<WeakReference<SoftNode>> nodes = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            Registration registration = new Registration();
            poll.register(registration, i, Interest.READABLE, Trigger.EDGE);
            registration.delayReadiness(Readiness.READABLE, LONG);
            registration.close();
            nodes.add(new WeakReference<>(registration.node));
        }
        poll.poll(events, Duration.ZERO);
        awaitCollection(nodes);
    }

    @Test
    @DisplayName("mio-10: an open poll does not hold on to the node of a registration that was deregistered or closed")
    void withoutADelay() {
        for (Trigger trigger : Trigger.values()) {
            List<WeakReference<SoftNode>> nodes = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                Registration registration = new Registration();
                poll.register(registration, i, Interest.READABLE, trigger);
                registration.setReadiness(Readiness.READABLE);
                poll.poll(events, Duration.ZERO);
                if (i % 2 == 0) {
                    poll.deregister(registration);
                } else {
                    registration.close();
                }
                nodes.add(new WeakReference<>(registration.node));
            }
            poll.poll(events, Duration.ZERO);
            awaitCollection(nodes);
        }
    }

    private void assertForgotten(Consumer<Registration> end) {
        List<WeakReference<SoftNode>> nodes = new ArrayList<>();
        delayAndEnd(nodes, end);
        poll.poll(events, Duration.ZERO);
        awaitCollection(nodes);
        assertThat(poll.size()).isZero();
    }

    private void delayAndEnd(List<WeakReference<SoftNode>> nodes, Consumer<Registration> end) {
        List<Registration> registrations = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            Registration registration = new Registration();
            poll.register(registration, i, Interest.READABLE, Trigger.EDGE);
            registration.delayReadiness(Readiness.READABLE, LONG);
            registrations.add(registration);
            nodes.add(new WeakReference<>(registration.node));
        }
        poll.poll(events, Duration.ZERO); // now they are in the wheel
        registrations.forEach(end);
    }

    private static void awaitCollection(List<WeakReference<SoftNode>> nodes) {
        long start = System.nanoTime();
        while (nodes.stream().anyMatch(node -> !node.refersTo(null))) {
            System.gc();
            assertThat(System.nanoTime() - start)
                    .as(
                            "nodes that are still held: %d",
                            nodes.stream().filter(n -> !n.refersTo(null)).count())
                    .isLessThan(Duration.ofSeconds(10).toNanos());
        }
    }
}
