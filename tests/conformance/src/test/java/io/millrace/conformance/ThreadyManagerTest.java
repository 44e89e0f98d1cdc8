package io.millrace.conformance;

import io.millrace.engine.CompletionEventManager;
import io.millrace.engine.EventManager;
import io.millrace.engine.ReadinessEventManager;
import io.millrace.poll.Clock;
import io.millrace.testkit.AlarmContract;
import io.millrace.testkit.BoundaryContract;
import io.millrace.testkit.CompletionEventManagerContract;
import io.millrace.testkit.EndingContract;
import io.millrace.testkit.EventManagerContract;
import io.millrace.testkit.LastTurnContract;
import io.millrace.testkit.ReadinessEventManagerContract;
import java.time.InstantSource;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;

/** Another manager than the library's own. */
@DisplayName("grpc-1: a deliberately different manager passes all suites")
class ThreadyManagerTest {
    @Nested
    class Tasks extends EventManagerContract {
        @Override
        protected EventManager open() {
            return new ThreadyManager(Clock.system(), InstantSource.system());
        }

        @Override
        protected Optional<EventManager> open(Clock clock, InstantSource wallClock) {
            return Optional.of(new ThreadyManager(clock, wallClock));
        }
    }

    @Nested
    class Alarms extends AlarmContract {
        @Override
        protected EventManager open() {
            return new ThreadyManager(Clock.system(), InstantSource.system());
        }

        @Override
        protected Optional<EventManager> open(Clock clock, InstantSource wallClock) {
            return Optional.of(new ThreadyManager(clock, wallClock));
        }
    }

    @Nested
    class Ending extends EndingContract {
        @Override
        protected EventManager open() {
            return new ThreadyManager(Clock.system(), InstantSource.system());
        }

        @Override
        protected Optional<EventManager> open(Clock clock, InstantSource wallClock) {
            return Optional.of(new ThreadyManager(clock, wallClock));
        }
    }

    @Nested
    class Readiness extends ReadinessEventManagerContract {
        @Override
        protected ReadinessEventManager open() {
            return new ThreadyManager(Clock.system(), InstantSource.system());
        }

        @Override
        protected Optional<ReadinessEventManager> open(Clock clock, InstantSource wallClock) {
            return Optional.of(new ThreadyManager(clock, wallClock));
        }
    }

    @Nested
    class Completion extends CompletionEventManagerContract {
        @Override
        protected CompletionEventManager open() {
            return new ThreadyManager(Clock.system(), InstantSource.system());
        }

        @Override
        protected Optional<CompletionEventManager> open(Clock clock, InstantSource wallClock) {
            return Optional.of(new ThreadyManager(clock, wallClock));
        }
    }

    @Nested
    class LastTurn extends LastTurnContract {
        @Override
        protected ReadinessEventManager open() {
            return new ThreadyManager(Clock.system(), InstantSource.system());
        }
    }

    @Nested
    class Boundaries extends BoundaryContract {
        @Override
        protected EventManager open() {
            return new ThreadyManager(Clock.system(), InstantSource.system());
        }
    }
}
