package io.millrace.conformance;

import io.millrace.engine.CompletionEventManager;
import io.millrace.engine.EventManager;
import io.millrace.engine.ReadinessEventManager;
import io.millrace.net.Net;
import io.millrace.poll.Clock;
import io.millrace.testkit.AlarmContract;
import io.millrace.testkit.CompletionEventManagerContract;
import io.millrace.testkit.EndingContract;
import io.millrace.testkit.EventManagerContract;
import io.millrace.testkit.ReadinessEventManagerContract;
import java.time.InstantSource;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The suites of event managers on one reactor over epoll. */
@Tag("apart")
@DisplayName("grpc-1: the manager suites on one reactor over epoll")
class ReactorsEpollOneTest {
    private static final TestedReactors TESTED = new TestedReactors("epoll", 1);

    @Nested
    class Tasks extends EventManagerContract {
        @Override
        protected EventManager open() {
            return TESTED.open();
        }

        @Override
        protected Optional<EventManager> open(Clock clock, InstantSource wallClock) {
            return Optional.of(TESTED.open(clock, wallClock));
        }

        @Override
        protected boolean strictPriorities() {
            return TESTED.isStrict();
        }
    }

    @Nested
    class Alarms extends AlarmContract {
        @Override
        protected EventManager open() {
            return TESTED.open();
        }

        @Override
        protected Optional<EventManager> open(Clock clock, InstantSource wallClock) {
            return Optional.of(TESTED.open(clock, wallClock));
        }

        @Override
        protected boolean strictPriorities() {
            return TESTED.isStrict();
        }
    }

    @Nested
    class Ending extends EndingContract {
        @Override
        protected EventManager open() {
            return TESTED.open();
        }

        @Override
        protected Optional<EventManager> open(Clock clock, InstantSource wallClock) {
            return Optional.of(TESTED.open(clock, wallClock));
        }

        @Override
        protected boolean strictPriorities() {
            return TESTED.isStrict();
        }
    }

    @Nested
    class Readiness extends ReadinessEventManagerContract {
        @Override
        protected ReadinessEventManager open() {
            return TESTED.open();
        }

        @Override
        protected Optional<ReadinessEventManager> open(Clock clock, InstantSource wallClock) {
            return Optional.of(TESTED.open(clock, wallClock));
        }

        @Override
        protected boolean strictPriorities() {
            return TESTED.isStrict();
        }

        @Override
        protected Net net() {
            return TESTED.net();
        }

        @Override
        protected boolean hasNumbers() {
            return TESTED.isNative();
        }

        @Override
        protected boolean tellsErrors() {
            return TESTED.isNative();
        }
    }

    @Nested
    class Completion extends CompletionEventManagerContract {
        @Override
        protected CompletionEventManager open() {
            return TESTED.open();
        }

        @Override
        protected Optional<CompletionEventManager> open(Clock clock, InstantSource wallClock) {
            return Optional.of(TESTED.open(clock, wallClock));
        }

        @Override
        protected boolean strictPriorities() {
            return TESTED.isStrict();
        }

        @Override
        protected Net net() {
            return TESTED.net();
        }
    }
}
