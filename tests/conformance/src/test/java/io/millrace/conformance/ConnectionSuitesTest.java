package io.millrace.conformance;

import io.millrace.engine.Dispatch;
import io.millrace.testkit.ConnectionContract;
import io.millrace.testkit.TestConnectionRig;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;

@DisplayName("srv-17: one suite for connections over sockets and in memory")
class ConnectionSuitesTest {
    @Nested
    class InMemoryOnTheLoop extends ConnectionContract {
        InMemoryOnTheLoop() {
            super(() -> new TestConnectionRig(Dispatch.LOOP));
        }
    }

    @Nested
    class InMemoryOnAPool extends ConnectionContract {
        InMemoryOnAPool() {
            super(() -> new TestConnectionRig(Dispatch.POOL));
        }
    }

    @Nested
    class InMemoryOnVirtualThreads extends ConnectionContract {
        InMemoryOnVirtualThreads() {
            super(() -> new TestConnectionRig(Dispatch.VIRTUAL));
        }
    }

    @Nested
    class Epoll extends ConnectionContract {
        Epoll() {
            super(() -> new SocketRig(new ServerSetting("epoll", Dispatch.LOOP)));
        }
    }

    @Nested
    class EpollOnAPool extends ConnectionContract {
        EpollOnAPool() {
            super(() -> new SocketRig(new ServerSetting("epoll", Dispatch.POOL)));
        }
    }

    @Nested
    @DisplayName("tls-4: the suite with TLS, on the loop")
    class EpollTls extends ConnectionContract {
        EpollTls() {
            super(() -> new SocketRig(new ServerSetting("epoll", Dispatch.LOOP, true)));
        }
    }

    @Nested
    @DisplayName("tls-4: the suite with TLS, on a completion-based manager")
    class CompletionTls extends ConnectionContract {
        CompletionTls() {
            super(() -> new SocketRig(new ServerSetting("completion", Dispatch.LOOP, true)));
        }
    }

    @Nested
    class Nio extends ConnectionContract {
        Nio() {
            super(() -> new SocketRig(new ServerSetting("nio", Dispatch.LOOP)));
        }
    }

    @Nested
    @DisplayName("srv-14: the suite at a Unix socket")
    class Unix extends ConnectionContract {
        Unix() {
            super(() -> new SocketRig(new ServerSetting("epoll", Dispatch.LOOP, false, true)));
        }
    }

    @Nested
    @DisplayName("srv-14: the suite at a Unix socket, on a pool")
    class UnixOnAPool extends ConnectionContract {
        UnixOnAPool() {
            super(() -> new SocketRig(new ServerSetting("epoll", Dispatch.POOL, false, true)));
        }
    }

    @Nested
    @DisplayName("srv-14, tls-4: the suite at a Unix socket, with TLS")
    class UnixTls extends ConnectionContract {
        UnixTls() {
            super(() -> new SocketRig(new ServerSetting("epoll", Dispatch.LOOP, true, true)));
        }
    }

    @Nested
    @DisplayName("srv-14: the suite at a Unix socket of NIO")
    class UnixNio extends ConnectionContract {
        UnixNio() {
            super(() -> new SocketRig(new ServerSetting("nio", Dispatch.LOOP, false, true)));
        }
    }

    @Nested
    class ForeignManager extends ConnectionContract {
        ForeignManager() {
            super(() -> new SocketRig(new ServerSetting("foreign", Dispatch.VIRTUAL)));
        }
    }

    @Nested
    class CompletionManager extends ConnectionContract {
        CompletionManager() {
            super(() -> new SocketRig(new ServerSetting("completion", Dispatch.LOOP)));
        }
    }

    @Nested
    class OnAnEventLoop extends ConnectionContract {
        OnAnEventLoop() {
            super(() -> new SocketRig(new ServerSetting("event loop", Dispatch.LOOP)));
        }
    }
}
