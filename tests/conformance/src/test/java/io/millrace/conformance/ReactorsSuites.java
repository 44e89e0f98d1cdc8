package io.millrace.conformance;

import io.millrace.engine.CompletionEventManager;
import io.millrace.engine.EventManager;
import io.millrace.engine.ReadinessEventManager;
import io.millrace.net.Net;
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
import org.junit.jupiter.api.Nested;

/** The suites of event managers on the library's own, over one backend. */
abstract class ReactorsSuites {
    private final TestedReactors tested;

    ReactorsSuites(String backend, int reactors) {
        this.tested = new TestedReactors(backend, reactors);
    }

    @Nested
    class Tasks extends EventManagerContract {
        @Override
        protected EventManager open() {
            return tested.open();
        }

        @Override
        protected Optional<EventManager> open(Clock clock, InstantSource wallClock) {
            return Optional.of(tested.open(clock, wallClock));
        }

        @Override
        protected boolean strictPriorities() {
            return tested.isStrict();
        }
    }

    @Nested
    class Alarms extends AlarmContract {
        @Override
        protected EventManager open() {
            return tested.open();
        }

        @Override
        protected Optional<EventManager> open(Clock clock, InstantSource wallClock) {
            return Optional.of(tested.open(clock, wallClock));
        }

        @Override
        protected boolean strictPriorities() {
            return tested.isStrict();
        }
    }

    @Nested
    class Ending extends EndingContract {
        @Override
        protected EventManager open() {
            return tested.open();
        }

        @Override
        protected Optional<EventManager> open(Clock clock, InstantSource wallClock) {
            return Optional.of(tested.open(clock, wallClock));
        }

        @Override
        protected boolean strictPriorities() {
            return tested.isStrict();
        }
    }

    @Nested
    class Readiness extends ReadinessEventManagerContract {
        @Override
        protected ReadinessEventManager open() {
            return tested.open();
        }

        @Override
        protected Optional<ReadinessEventManager> open(Clock clock, InstantSource wallClock) {
            return Optional.of(tested.open(clock, wallClock));
        }

        @Override
        protected boolean strictPriorities() {
            return tested.isStrict();
        }

        @Override
        protected Net net() {
            return tested.net();
        }

        @Override
        protected boolean hasNumbers() {
            return tested.isNative();
        }

        @Override
        protected boolean tellsErrors() {
            return tested.isNative();
        }
    }

    @Nested
    class Completion extends CompletionEventManagerContract {
        @Override
        protected CompletionEventManager open() {
            return tested.open();
        }

        @Override
        protected Optional<CompletionEventManager> open(Clock clock, InstantSource wallClock) {
            return Optional.of(tested.open(clock, wallClock));
        }

        @Override
        protected boolean strictPriorities() {
            return tested.isStrict();
        }

        @Override
        protected Net net() {
            return tested.net();
        }
    }

    @Nested
    class LastTurn extends LastTurnContract {
        @Override
        protected ReadinessEventManager open() {
            return tested.open();
        }

        @Override
        protected Net net() {
            return tested.net();
        }
    }

    @Nested
    class Boundaries extends BoundaryContract {
        @Override
        protected EventManager open() {
            return tested.open();
        }

        @Override
        protected Net net() {
            return tested.net();
        }

        @Override
        protected boolean reports() {
            return true;
        }
    }
}
