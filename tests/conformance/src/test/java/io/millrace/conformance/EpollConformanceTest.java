package io.millrace.conformance;

import io.millrace.testkit.TestedBackend;
import org.junit.jupiter.api.DisplayName;

/** Every suite on Linux's own mechanism. */
@DisplayName("tip-1: the suite on epoll")
class EpollConformanceTest extends BackendSuites {
    EpollConformanceTest() {
        super(TestedBackend.named("epoll"));
    }
}
