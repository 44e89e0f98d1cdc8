package io.millrace.conformance;

import io.millrace.testkit.BadInputContract;
import io.millrace.testkit.ChannelContract;
import io.millrace.testkit.ClosingContract;
import io.millrace.testkit.ControlContract;
import io.millrace.testkit.DelayContract;
import io.millrace.testkit.FairnessContract;
import io.millrace.testkit.LoopContract;
import io.millrace.testkit.NotifierContract;
import io.millrace.testkit.ReadinessContract;
import io.millrace.testkit.ScaleContract;
import io.millrace.testkit.SocketContract;
import io.millrace.testkit.SourcesContract;
import io.millrace.testkit.TestedBackend;
import io.millrace.testkit.TimerContract;
import io.millrace.testkit.WaitingContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.ExtendWith;

/** Every suite for polls, on one backend; fails at the end if a test of a suite did not run on it. */
@ExtendWith(RunLedger.class)
abstract class BackendSuites {
    private final TestedBackend backend;

    BackendSuites(TestedBackend backend) {
        this.backend = backend;
    }

    @Nested
    class Sources extends SourcesContract {
        Sources() {
            super(backend);
        }
    }

    @Nested
    class Readiness extends ReadinessContract {
        Readiness() {
            super(backend);
        }
    }

    @Nested
    class Control extends ControlContract {
        Control() {
            super(backend);
        }
    }

    @Nested
    class Sockets extends SocketContract {
        Sockets() {
            super(backend);
        }
    }

    @Nested
    class Waiting extends WaitingContract {
        Waiting() {
            super(backend);
        }
    }

    @Nested
    class Channels extends ChannelContract {
        Channels() {
            super(backend);
        }
    }

    @Nested
    class Timers extends TimerContract {
        Timers() {
            super(backend);
        }
    }

    @Nested
    class Delays extends DelayContract {
        Delays() {
            super(backend);
        }
    }

    @Nested
    class Fairness extends FairnessContract {
        Fairness() {
            super(backend);
        }
    }

    @Nested
    class Closing extends ClosingContract {
        Closing() {
            super(backend);
        }
    }

    @Nested
    class Loop extends LoopContract {
        Loop() {
            super(backend);
        }
    }

    @Nested
    class Notifiers extends NotifierContract {
        Notifiers() {
            super(backend);
        }
    }

    @Nested
    class Scale extends ScaleContract {
        Scale() {
            super(backend);
        }
    }

    @Nested
    class BadInput extends BadInputContract {
        BadInput() {
            super(backend);
        }
    }
}
