package io.millrace.conformance;

import org.junit.jupiter.api.DisplayName;

@DisplayName("grpc-1: the manager suites on three reactors over epoll")
class ReactorsEpollThreeTest extends ReactorsSuites {
    ReactorsEpollThreeTest() {
        super("epoll", 3);
    }
}
