package io.millrace.conformance;

import org.junit.jupiter.api.DisplayName;

@DisplayName("grpc-1: the manager suites on one reactor over epoll")
class ReactorsEpollOneTest extends ReactorsSuites {
    ReactorsEpollOneTest() {
        super("epoll", 1);
    }
}
