package io.millrace.conformance;

import io.millrace.sys.selector.KqueueShim;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@DisplayName("Interleavings of control and poll")
class InterleavingTest {
    @Nested
    @EnabledOnOs(OS.LINUX)
    @DisplayName("on epoll")
    class Epoll extends InterleavingSuite {
        Epoll() {
            super("epoll");
        }
    }

    @Nested
    @DisplayName("on poll(2)")
    class Poll extends InterleavingSuite {
        Poll() {
            super("poll");
        }
    }

    @Nested
    @DisplayName("on NIO")
    class Nio extends InterleavingSuite {
        Nio() {
            super("nio");
        }
    }

    @Nested
    @DisplayName("on kqueue, over an emulation")
    class Kqueue extends InterleavingSuite {
        Kqueue() {
            super("kqueue");
        }

        @BeforeAll
        static void installTheEmulation() {
            Assumptions.assumeTrue(
                    KqueueShim.install(), () -> KqueueShim.built().reason());
        }
    }
}
