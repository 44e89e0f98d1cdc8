package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.poll.Channel;
import io.millrace.poll.Interest;
import io.millrace.poll.ManualClock;
import io.millrace.poll.Poll;
import io.millrace.poll.PollHandler;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Timer;
import io.millrace.poll.Trigger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The light loop over a poll: handler, tick, stop. */
@DisplayName("run and runOnce")
public abstract class LoopContract extends PollContract {
    /** Records what it is called with. */
    private static final class Recorder implements PollHandler {
        final List<String> calls = new ArrayList<>();

        @Override
        public void ready(Poll from, long token, Readiness kind) {
            calls.add(token + " " + kind);
        }

        @Override
        public void tick(Poll from) {
            calls.add("tick");
        }
    }

    private final Recorder recorder = new Recorder();

    /**
     * Creates a suite for one backend.
     *
     * @param backend the backend to test
     */
    protected LoopContract(TestedBackend backend) {
        super(backend);
    }

    @Test
    @DisplayName(
            "mio-25: a turn is a poll, ready for each event, then one tick; timers and channels come through ready too")
    void oneTurn() {
        ManualClock clock = new ManualClock();
        poll = open(builder().clock(clock));
        Timer<String> timer = closing(Timer.builder().clock(clock).build());
        Channel<String> channel = closing(Channel.unbounded());
        Registration source = closing(new Registration());
        poll.register(source, 1, Interest.READ_WRITE, Trigger.EDGE);
        poll.register(channel, 2, Interest.READABLE, Trigger.EDGE);
        poll.register(timer, 3, Interest.READABLE, Trigger.EDGE);
        timer.set(Duration.ofMillis(1), "due");
        source.setReadiness(Readiness.READ_WRITE);
        channel.send("sent");
        clock.advance(Duration.ofSeconds(1));

        assertThat(poll.runOnce(recorder, events, NOW)).isEqualTo(3);

        assertThat(recorder.calls).hasSize(4).contains("1 READABLE|WRITABLE", "2 READABLE", "3 READABLE");
        assertThat(recorder.calls.getLast()).isEqualTo("tick");
    }

    @Test
    @DisplayName("mio-25: a turn without events ticks once")
    void anEmptyTurnTicks() {
        assertThat(poll.runOnce(recorder, events, NOW)).isZero();
        assertThat(recorder.calls).containsExactly("tick");
        assertThat(poll.runOnce(recorder, events, Duration.ofMillis(1))).isZero();
        assertThat(recorder.calls).containsExactly("tick", "tick");
    }

    @Test
    @DisplayName("mio-25: software events are handed over in the order they were set")
    void eventsComeInOrder() {
        List<Registration> sources = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            sources.add(closing(new Registration()));
            poll.register(sources.get(i), i, Interest.READABLE, Trigger.EDGE);
        }
        for (int i : new int[] {3, 1, 4, 0, 2}) {
            sources.get(i).setReadiness(Readiness.READABLE);
        }

        poll.runOnce(recorder, events, NOW);

        assertThat(recorder.calls)
                .containsExactly("3 READABLE", "1 READABLE", "4 READABLE", "0 READABLE", "2 READABLE", "tick");
    }

    @Test
    @DisplayName("mio-25: run turns until stop, which ends the turn's wait")
    void runTurnsUntilStop() {
        Channel<String> channel = closing(Channel.unbounded());
        poll.register(channel, 1, Interest.READABLE, Trigger.LEVEL);
        List<String> received = new ArrayList<>();
        Background<Boolean> loop = Background.run(() -> poll.run((self, token, kind) -> received.add(channel.poll())));
        channel.send("a");
        channel.send("b");
        Await.until("both were received", () -> channel.size() == 0);

        poll.stop();

        loop.result();
        assertThat(received).containsExactly("a", "b");
    }

    @Test
    @DisplayName("mio-25: a stop before run is honoured, and run works again after it")
    void stopBeforeRun() {
        poll.stop();
        poll.run(recorder);
        assertThat(recorder.calls).isEmpty();

        Registration source = closing(new Registration());
        poll.register(source, 1, Interest.READABLE, Trigger.EDGE);
        source.setReadiness(Readiness.READABLE);
        List<String> calls = new ArrayList<>();
        poll.run((self, token, kind) -> {
            calls.add(token + " " + kind);
            self.stop();
        });
        assertThat(calls).containsExactly("1 READABLE");
    }

    @Test
    @DisplayName("mio-25, mio-10: a handler that deregisters another source keeps it from being called in this turn")
    void aHandlerMayDeregister() {
        Registration first = closing(new Registration());
        Registration second = closing(new Registration());
        poll.register(first, 1, Interest.READABLE, Trigger.EDGE);
        poll.register(second, 2, Interest.READABLE, Trigger.EDGE);
        first.setReadiness(Readiness.READABLE);
        second.setReadiness(Readiness.READABLE);
        List<Long> calls = new ArrayList<>();

        int handled = poll.runOnce(
                (self, token, kind) -> {
                    calls.add(token);
                    self.deregister(second);
                },
                events,
                NOW);

        assertThat(handled).isEqualTo(1);
        assertThat(calls).containsExactly(1L);
    }

    @Test
    @DisplayName("mio-25: what a handler throws ends the turn and leaves the poll usable")
    void aHandlerMayThrow() {
        Registration source = closing(new Registration());
        poll.register(source, 1, Interest.READABLE, Trigger.LEVEL);
        source.setReadiness(Readiness.READABLE);
        try {
            poll.runOnce(
                    (self, token, kind) -> {
                        throw new UnsupportedOperationException("from the handler");
                    },
                    events,
                    NOW);
            throw new AssertionError("expected what the handler threw");
        } catch (UnsupportedOperationException e) {
            assertThat(e).hasMessage("from the handler");
        }

        poll.runOnce(recorder, events, NOW);
        assertThat(recorder.calls).containsExactly("1 READABLE", "tick");
    }
}
