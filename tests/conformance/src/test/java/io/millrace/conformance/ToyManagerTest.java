package io.millrace.conformance;

import io.millrace.engine.EventManager;
import io.millrace.poll.Clock;
import io.millrace.testkit.AlarmContract;
import io.millrace.testkit.EndingContract;
import io.millrace.testkit.EventManagerContract;
import java.time.InstantSource;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;

/** A manager that implements the base alone. */
@DisplayName("grpc-15: a manager without descriptors passes the base suites")
class ToyManagerTest {
    @Nested
    class Tasks extends EventManagerContract {
        @Override
        protected EventManager open() {
            return new ToyManager(Clock.system(), InstantSource.system());
        }

        @Override
        protected Optional<EventManager> open(Clock clock, InstantSource wallClock) {
            return Optional.of(new ToyManager(clock, wallClock));
        }

        @Override
        protected boolean strictPriorities() {
            return true;
        }
    }

    @Nested
    class Alarms extends AlarmContract {
        @Override
        protected EventManager open() {
            return new ToyManager(Clock.system(), InstantSource.system());
        }

        @Override
        protected Optional<EventManager> open(Clock clock, InstantSource wallClock) {
            return Optional.of(new ToyManager(clock, wallClock));
        }

        @Override
        protected boolean strictPriorities() {
            return true;
        }
    }

    @Nested
    class Ending extends EndingContract {
        @Override
        protected EventManager open() {
            return new ToyManager(Clock.system(), InstantSource.system());
        }

        @Override
        protected Optional<EventManager> open(Clock clock, InstantSource wallClock) {
            return Optional.of(new ToyManager(clock, wallClock));
        }

        @Override
        protected boolean strictPriorities() {
            return true;
        }
    }
}
