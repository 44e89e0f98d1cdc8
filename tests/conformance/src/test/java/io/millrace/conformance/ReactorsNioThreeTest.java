package io.millrace.conformance;

import org.junit.jupiter.api.DisplayName;

@DisplayName("grpc-1: the manager suites on three reactors over NIO")
class ReactorsNioThreeTest extends ReactorsSuites {
    ReactorsNioThreeTest() {
        super("nio", 3);
    }
}
