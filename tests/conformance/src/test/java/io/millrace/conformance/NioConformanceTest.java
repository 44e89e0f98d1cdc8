package io.millrace.conformance;

import io.millrace.testkit.TestedBackend;
import org.junit.jupiter.api.DisplayName;

/** Every suite on what each platform has. */
@DisplayName("tip-1: the suite on NIO")
class NioConformanceTest extends BackendSuites {
    NioConformanceTest() {
        super(TestedBackend.named("nio").withoutHints());
    }
}
