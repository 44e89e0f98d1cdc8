package io.millrace.conformance;

import org.junit.jupiter.api.DisplayName;

@DisplayName("grpc-1: the manager suites on one reactor over poll(2)")
class ReactorsPollOneTest extends ReactorsSuites {
    ReactorsPollOneTest() {
        super("poll", 1);
    }
}
