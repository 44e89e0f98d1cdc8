package io.millrace.conformance;

import org.junit.jupiter.api.DisplayName;

@DisplayName("grpc-1: the manager suites on three reactors over poll(2)")
class ReactorsPollThreeTest extends ReactorsSuites {
    ReactorsPollThreeTest() {
        super("poll", 3);
    }
}
