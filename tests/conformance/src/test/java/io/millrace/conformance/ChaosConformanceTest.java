package io.millrace.conformance;

import io.millrace.testkit.TestedBackend;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.extension.ExtendWith;

/** Every suite on {@link ChaosSelector}, a mechanism that the library does not know and that disturbs where it may. */
@DisplayName("tip-2: the suite on a hostile backend from outside the library")
@ExtendWith(ChaosSeed.class)
class ChaosConformanceTest extends BackendSuites {
    ChaosConformanceTest() {
        super(TestedBackend.named(ChaosProvider.NAME).thatDisturbs());
    }
}
