package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.net.Pipe;
import io.millrace.poll.Channel;
import io.millrace.poll.Event;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Timer;
import io.millrace.poll.Trigger;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** If more is ready than the buffer holds, every source gets a turn. */
@DisplayName("Fairness")
public abstract class FairnessContract extends PollContract {
    private static final long CHANNEL = 1_000;
    private static final long TIMER = 2_000;
    private static final long PIPE = 3_000;

    /**
     * Creates a suite for one backend.
     *
     * @param backend the backend to test
     */
    protected FairnessContract(TestedBackend backend) {
        super(backend);
    }

    @Test
    @DisplayName("mio-19: LEVEL nodes go behind what was pending: eight sources, four places, all seen in three polls")
    void levelNodesDoNotStarveOthers() {
        for (int i = 0; i < 8; i++) {
            readySource(i);
        }

        assertThat(seenIn(3, 4)).hasSize(8);
    }

    @Test
    @DisplayName("mio-19: a LEVEL node that is always ready does not keep an EDGE node waiting, even with one place")
    void levelNodesDoNotStarveEdges() {
        for (int i = 0; i < 4; i++) {
            readySource(i);
        }
        seenIn(4, 1);
        Registration late = closing(new Registration());
        poll.register(late, 99, Interest.READABLE, Trigger.EDGE);
        late.setReadiness(Readiness.READABLE);

        assertThat(seenIn(10, 1)).contains(99L);
    }

    @Test
    @DisplayName("mio-30: sockets that are always ready do not keep software waiting, with four places")
    void kernelEventsDoNotStarveSoftware() {
        readyPipes(8);
        readyChannel();
        readyTimer(TIMER);

        assertThat(seenIn(4, 4)).contains(CHANNEL, TIMER);
    }

    @Test
    @DisplayName("mio-30: nor with one place")
    void kernelEventsDoNotStarveSoftwareInOnePlace() {
        readyPipes(8);
        readyChannel();
        readyTimer(TIMER);

        assertThat(seenIn(6, 1)).contains(CHANNEL, TIMER);
    }

    @Test
    @DisplayName("mio-30: software that is always ready does not keep sockets waiting, with four places or one")
    void softwareDoesNotStarveKernelEvents() {
        for (int i = 0; i < 8; i++) {
            readySource(i);
        }
        readyPipes(1);

        assertThat(seenIn(2, 4)).contains(PIPE);
        assertThat(seenIn(4, 1)).contains(PIPE);
        // Every single software source had its turn, too.
        assertThat(seenIn(20, 1)).hasSize(9);
    }

    @Test
    @DisplayName("mio-30: timers that are always due keep neither sockets nor channels waiting")
    void timersDoNotStarveOthers() {
        for (int i = 0; i < 8; i++) {
            readyTimer(TIMER + i);
        }
        readyPipes(1);
        readyChannel();

        assertThat(seenIn(4, 4)).contains(PIPE, CHANNEL);
        assertThat(seenIn(30, 1)).contains(PIPE, CHANNEL);
    }

    @Test
    @DisplayName("mio-30: whatever is ready in software, a poll fills its places with what the kernel has")
    void unusedPlacesAreFilled() {
        readyPipes(8);
        Registration silent = closing(new Registration());
        poll.register(silent, 1, Interest.READABLE, Trigger.EDGE);
        Events one = Events.withCapacity(1);
        for (int i = 0; i < 10; i++) {
            silent.setReadiness(Readiness.WRITABLE); // queued, and nothing to report
            assertThat(poll.poll(one, NOW)).as("poll " + i).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("tip-13: 300 ready descriptors and 128 places: served over several polls, none starved")
    void moreReadyThanPlaces() {
        readyPipes(300);
        Events places = Events.withCapacity(128);
        Set<Long> seen = new HashSet<>();
        int polls = 0;
        while (seen.size() < 300) {
            assertThat(polls++)
                    .as("polls, with " + seen.size() + " seen")
                    .isLessThan(backend().patience(3));
            int found = pollSoon(places);
            assertThat(found).isBetween(1, 128);
            read(places).forEach(event -> seen.add(event.token()));
        }
    }

    @Test
    @DisplayName("tip-13: so it is with edges, of which each comes exactly once")
    void edgesThatDoNotFitComeLater() {
        for (int i = 0; i < 300; i++) {
            Pipe pipe = pipe();
            Bytes.write(pipe.sink(), 1);
            poll.register(pipe.source(), PIPE + i, Interest.READABLE, Trigger.EDGE);
        }
        Events places = Events.withCapacity(128);
        Set<Long> seen = new HashSet<>();
        while (seen.size() < 300) {
            assertThat(pollSoon(places)).isPositive();
            for (Event event : places) {
                assertThat(seen.add(event.token()))
                        .as("token " + event.token() + " is new")
                        .isTrue();
            }
        }
        assertThat(poll.poll(places, NOW)).isZero();
    }

    @Test
    @DisplayName("tip-13: the buffer may be larger than what is ready, and change from poll to poll")
    void theBufferMayChange() {
        readyPipes(20);
        for (int capacity : new int[] {1, 1_024, 3, 4_096, 128}) {
            Events places = Events.withCapacity(capacity);
            assertThat(pollSoon(places)).isBetween(1, Math.min(20, capacity));
        }
    }

    @Test
    @DisplayName("A thread that never stops setting readiness cannot keep a poll from returning sockets")
    void aRestlessThreadDoesNotKeepSocketsWaiting() {
        restless(Interest.READABLE, Readiness.READABLE);
    }

    @Test
    @DisplayName("Nor can one that sets what nobody wants to hear")
    void aRestlessThreadOutsideTheInterestDoesNotKeepSocketsWaiting() {
        restless(Interest.WRITABLE, Readiness.READABLE);
    }

    private void restless(Interest interest, Readiness readiness) {
        Registration[] noisy = new Registration[4];
        for (int i = 0; i < noisy.length; i++) {
            noisy[i] = closing(new Registration());
            poll.register(noisy[i], i, interest, Trigger.EDGE);
        }
        AtomicBoolean stop = new AtomicBoolean();
        Background<Boolean> setter = Background.run(() -> {
            while (!stop.get()) {
                for (Registration one : noisy) {
                    one.setReadiness(readiness);
                }
            }
        });
        try {
            readyPipes(1);
            for (int capacity : new int[] {1, 2, 1, 64, 1}) {
                Events places = Events.withCapacity(capacity);
                Background<Boolean> found = Background.run(() -> {
                    boolean seen = false;
                    while (!seen) {
                        pollSoon(places);
                        seen = tokens(read(places)).contains(PIPE);
                    }
                });
                assertThat(found.result())
                        .as("the pipe was seen, with " + capacity + " places")
                        .isTrue();
            }
        } finally {
            stop.set(true);
        }
        setter.result();
    }

    private void readySource(long token) {
        Registration source = closing(new Registration());
        source.setReadiness(Readiness.READABLE);
        poll.register(source, token, Interest.READABLE, Trigger.LEVEL);
    }

    private void readyPipes(int count) {
        for (int i = 0; i < count; i++) {
            poll.register(pipe().sink(), PIPE + i, Interest.WRITABLE, Trigger.LEVEL);
        }
    }

    private void readyChannel() {
        Channel<String> channel = closing(Channel.unbounded());
        channel.send("never received");
        poll.register(channel, CHANNEL, Interest.READABLE, Trigger.LEVEL);
    }

    private void readyTimer(long token) {
        Timer<String> timer = closing(Timer.withTick(Duration.ofNanos(1)));
        timer.set(Duration.ZERO, "never polled");
        poll.register(timer, token, Interest.READABLE, Trigger.LEVEL);
    }

    /** Returns the tokens that a number of polls with a given capacity return. */
    private Set<Long> seenIn(int polls, int capacity) {
        Events places = Events.withCapacity(capacity);
        Set<Long> seen = new HashSet<>();
        for (int i = 0; i < backend().patience(polls); i++) {
            poll.poll(places, NOW);
            assertThat(places.size()).isLessThanOrEqualTo(capacity);
            read(places).forEach(event -> seen.add(event.token()));
        }
        return seen;
    }
}
