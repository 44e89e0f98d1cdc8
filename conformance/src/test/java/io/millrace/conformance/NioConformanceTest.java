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
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.ExtendWith;

/** Every suite on what each platform has. */
@DisplayName("tip-1: the suite on NIO")
@ExtendWith(RunLedger.class)
class NioConformanceTest {
    private static final TestedBackend BACKEND = TestedBackend.named("nio").withoutHints();

    @Nested
    class Sources extends SourcesContract {
        Sources() {
            super(BACKEND);
        }
    }

    @Nested
    class Readiness extends ReadinessContract {
        Readiness() {
            super(BACKEND);
        }
    }

    @Nested
    class Control extends ControlContract {
        Control() {
            super(BACKEND);
        }
    }

    @Nested
    class Sockets extends SocketContract {
        Sockets() {
            super(BACKEND);
        }
    }

    @Nested
    class Waiting extends WaitingContract {
        Waiting() {
            super(BACKEND);
        }
    }

    @Nested
    class Channels extends ChannelContract {
        Channels() {
            super(BACKEND);
        }
    }

    @Nested
    class Timers extends TimerContract {
        Timers() {
            super(BACKEND);
        }
    }

    @Nested
    class Delays extends DelayContract {
        Delays() {
            super(BACKEND);
        }
    }

    @Nested
    class Fairness extends FairnessContract {
        Fairness() {
            super(BACKEND);
        }
    }

    @Nested
    class Closing extends ClosingContract {
        Closing() {
            super(BACKEND);
        }
    }

    @Nested
    class Loop extends LoopContract {
        Loop() {
            super(BACKEND);
        }
    }

    @Nested
    class Notifiers extends NotifierContract {
        Notifiers() {
            super(BACKEND);
        }
    }

    @Nested
    class Scale extends ScaleContract {
        Scale() {
            super(BACKEND);
        }
    }

    @Nested
    class BadInput extends BadInputContract {
        BadInput() {
            super(BACKEND);
        }
    }
}
