package io.millrace.engine.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Priority;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A reactor's last turn")
@Timeout(20)
class LastTurnTest {
    private final List<String> log = new ArrayList<>();
    private final Reactor reactor = new Reactor("reactor", new EngineSettings());

    private EventSink owner(Runnable end) {
        return new EventSink() {
            @Override
            public void onReady(int bits) {}

            @Override
            public void onReactorEnd() {
                end.run();
            }
        };
    }

    @Test
    @DisplayName("end-2: runs what is queued, what that leaves for the end of the turn, and what comes late meanwhile")
    void runsTheRest() {
        reactor.execute(() -> {
            log.add("task");
            reactor.atEndOfTurn(() -> {
                log.add("end of turn");
                reactor.executeAlways(
                        () -> {
                            log.add("late");
                            reactor.atEndOfTurn(() -> log.add("last"));
                        },
                        Priority.SYSTEM);
            });
        });
        reactor.finish(List.of());
        assertThat(log).containsExactly("task", "end of turn", "late", "last");
    }

    @Test
    @DisplayName("end-2: what comes after it and must run is run by who brings it, and may throw anything")
    void afterIt() {
        reactor.finish(List.of());
        reactor.executeAlways(() -> log.add("here " + reactor.inLoop()), Priority.SYSTEM);
        assertThat(log).containsExactly("here false");
        reactor.executeAlways(
                () -> {
                    throw new AssertionError("meant so");
                },
                Priority.SYSTEM);
    }

    @Test
    @DisplayName("end-1, end-2: ends all that it carries, though the end of one throws")
    void oneThatThrows() {
        EventSink throwing = owner(() -> {
            throw new AssertionError("meant so");
        });
        reactor.finish(List.of(throwing, owner(() -> log.add("second")), throwing, owner(() -> log.add("fourth"))));
        assertThat(log).containsExactly("second", "fourth");
    }
}
