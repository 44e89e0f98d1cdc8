package io.millrace.engine.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Priority;
import io.millrace.poll.Clock;
import io.millrace.poll.Interest;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Source;
import io.millrace.poll.Trigger;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("One turn of a reactor")
@Timeout(30)
class TurnTest {
    private final List<String> log = new ArrayList<>();

    /** Says when it is asked. */
    private final class LoggingClock implements Clock {
        private long now;

        @Override
        public long nanoTime() {
            log.add("time");
            return now;
        }
    }

    private final LoggingClock clock = new LoggingClock();

    private Reactor reactor() {
        EngineSettings settings = new EngineSettings();
        settings.clock(clock);
        return new Reactor("reactor", settings);
    }

    private Alarm alarm(Reactor reactor, long deadline, Priority priority) {
        return new Alarm(reactor, deadline, 0, 0, fired -> log.add("alarm " + priority), priority);
    }

    @Test
    @DisplayName(
            "takes the time once after the wait, then events, alarms, delivery by class, the end of the batch, and the"
                    + " metrics")
    void order() {
        Reactor reactor = reactor();
        Registration registration = new Registration();
        Source source = () -> registration;
        reactor.register(
                source,
                0,
                new EventSink() {
                    @Override
                    public void onReady(int bits) {
                        log.add("event seen");
                        reactor.add(() -> log.add("event NORMAL"), Priority.NORMAL);
                    }

                    @Override
                    public void onReactorEnd() {
                        log.add("end seen");
                    }
                },
                Interest.READABLE,
                Trigger.EDGE);
        reactor.schedule(alarm(reactor, 0, Priority.HIGH));
        reactor.schedule(alarm(reactor, 0, Priority.NORMAL));
        registration.setReadiness(Readiness.READABLE);
        reactor.post(
                () -> {
                    log.add("task NORMAL");
                    reactor.atEndOfTurn(() -> log.add("end of the batch, " + reactor.metrics.turns()));
                    reactor.post(() -> log.add("task of the next turn"), Priority.SYSTEM);
                },
                Priority.NORMAL);
        reactor.post(() -> log.add("task SYSTEM"), Priority.SYSTEM);
        reactor.post(() -> log.add("task LOW"), Priority.LOW);
        log.clear();
        reactor.runOnce(0, null);
        log.removeFirst(); // a driver that is not a loop asks for the time when it begins
        // The poll asks for the time itself only if it has timers, and this one has none.
        assertThat(log)
                .containsExactly(
                        "time",
                        "event seen",
                        "task SYSTEM",
                        "alarm HIGH",
                        "event NORMAL",
                        "alarm NORMAL",
                        "task NORMAL",
                        "task LOW",
                        "end of the batch, 0",
                        "time");
        assertThat(reactor.metrics.turns()).isEqualTo(1);
        log.clear();
        reactor.runOnce(0, null);
        assertThat(log).contains("task of the next turn").doesNotContain("end seen");
        reactor.finish(List.of());
        assertThat(log).contains("end seen");
    }

    @Test
    @DisplayName(
            "end-5: what is left for the end of a turn is run in slices, in order, and without a sleep between them")
    void sliceAtTheEnd() {
        Reactor reactor = reactor();
        List<Integer> ran = new ArrayList<>();
        reactor.post(
                () -> {
                    for (int i = 0; i < 1_300; i++) {
                        int number = i;
                        reactor.atEndOfTurn(() -> ran.add(number));
                    }
                },
                Priority.NORMAL);
        List<Integer> after = new ArrayList<>();
        for (int turn = 0; turn < 3; turn++) {
            reactor.runOnce(Reactor.FOREVER, null);
            after.add(ran.size());
        }
        assertThat(after).containsExactly(512, 1_024, 1_300);
        assertThat(ran).isSorted();
        reactor.finish(List.of());
    }

    @Test
    @DisplayName("does not wait while something is to be run, and waits until the next alarm otherwise")
    void timeout() {
        Reactor reactor = reactor();
        reactor.schedule(alarm(reactor, 0, Priority.NORMAL));
        reactor.runOnce(Reactor.FOREVER, null);
        assertThat(log).contains("alarm NORMAL");
        assertThat(reactor.poll.wakes()).isZero();
        reactor.finish(List.of());
    }
}
