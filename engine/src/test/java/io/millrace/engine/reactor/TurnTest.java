package io.millrace.engine.reactor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.millrace.engine.Priority;
import io.millrace.poll.Clock;
import io.millrace.poll.Interest;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Source;
import io.millrace.poll.Trigger;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
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
        settings.setClock(clock);
        return new Reactor("reactor", settings);
    }

    private Alarm alarm(Reactor reactor, long deadline, Priority priority) {
        return new Alarm(reactor, deadline, 0, 0, fired -> log.add("alarm " + priority), priority);
    }

    @Test
    @DisplayName("mr-11: one thread at a time runs it; a callback and another thread are refused, and then it goes on")
    void oneThreadAtATime() {
        Reactor reactor = reactor();
        List<Throwable> refused = new ArrayList<>();
        reactor.execute(() -> {
            refused.add(catchThrowable(() -> reactor.runOnce(0, null)));
            refused.add(CompletableFuture.supplyAsync(() -> catchThrowable(() -> reactor.runOnce(0, null)))
                    .join());
        });
        assertThat(reactor.runOnce(0, null)).isOne();
        assertThat(refused)
                .hasSize(2)
                .allSatisfy(thrown -> assertThat(thrown)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageStartingWith("cannot run reactor: "));
        assertThat(refused.get(0)).hasMessageEndingWith("it is running this callback; return from it instead");
        assertThat(refused.get(1)).hasMessageEndingWith(Thread.currentThread() + " runs it");
        reactor.execute(() -> log.add("goes on"));
        assertThat(reactor.runOnce(0, null)).isOne();
        assertThat(log).contains("goes on");
        reactor.finish(List.of());
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
    @DisplayName("mr-1: a report names the engine's own step where no item runs, and the item where one does")
    void whereItIs() {
        List<String> in = new ArrayList<>();
        EngineSettings settings = new EngineSettings();
        List<Reactor> looked = new ArrayList<>();
        settings.setClock(() -> {
            looked.forEach(one -> in.add(one.describeTurn(1).handler()));
            return 0;
        });
        Reactor reactor = new Reactor("reactor", settings);
        Runnable item = new Runnable() {
            @Override
            public void run() {
                in.add(reactor.describeTurn(1).handler());
            }

            @Override
            public String toString() {
                return "the item";
            }
        };
        reactor.runOnce(0, null);
        reactor.post(item, Priority.NORMAL);
        looked.add(reactor);
        reactor.runOnce(0, null);
        assertThat(in)
                .contains("the engine's own step: asking the kernel for events")
                .containsSubsequence("the item", "the engine's own step: publishing its metrics")
                .doesNotContain("null");
        reactor.finish(List.of());
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
