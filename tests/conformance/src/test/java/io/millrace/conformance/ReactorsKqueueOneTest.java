package io.millrace.conformance;

import io.millrace.sys.selector.KqueueShim;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;

@DisplayName("grpc-1: the manager suites on one reactor over kqueue, over an emulation")
class ReactorsKqueueOneTest extends ReactorsSuites {
    ReactorsKqueueOneTest() {
        super("kqueue", 1);
    }

    @BeforeAll
    static void installTheEmulation() {
        Assumptions.assumeTrue(KqueueShim.install(), () -> KqueueShim.built().reason());
    }
}
