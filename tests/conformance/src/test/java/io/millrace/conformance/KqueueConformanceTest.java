package io.millrace.conformance;

import io.millrace.sys.selector.KqueueShim;
import io.millrace.testkit.TestedBackend;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;

/** Every suite on kqueue(2), over our emulation of it in C. Where there is no compiler it is skipped, and says so. */
@DisplayName("tip-1: the suite on kqueue, over an emulation")
class KqueueConformanceTest extends BackendSuites {
    KqueueConformanceTest() {
        super(TestedBackend.named("kqueue"));
    }

    @BeforeAll
    static void installTheEmulation() {
        Assumptions.assumeTrue(KqueueShim.install(), () -> KqueueShim.built().reason());
    }
}
