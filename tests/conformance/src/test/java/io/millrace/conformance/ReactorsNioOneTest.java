package io.millrace.conformance;

import org.junit.jupiter.api.DisplayName;

@DisplayName("grpc-1: the manager suites on one reactor over NIO")
class ReactorsNioOneTest extends ReactorsSuites {
    ReactorsNioOneTest() {
        super("nio", 1);
    }
}
