package io.millrace.conformance;

import io.millrace.testkit.TestedBackend;
import org.junit.jupiter.api.DisplayName;

/** Every suite on what each Unix has. */
@DisplayName("tip-1: the suite on poll(2)")
class PollConformanceTest extends BackendSuites {
    PollConformanceTest() {
        super(TestedBackend.named("poll"));
    }
}
