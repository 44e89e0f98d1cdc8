package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.EventManager;
import io.millrace.engine.Reactors;
import io.millrace.engine.ReadinessEventManager;
import io.millrace.poll.Clock;
import io.millrace.server.TcpServer;
import io.millrace.testkit.Await;
import io.millrace.testkit.HeldPort;
import io.millrace.testkit.OpenFiles;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A server is started by whatever thread, whatever its loops are doing. */
@DisplayName("Starting a server")
@Timeout(60)
class StartingTest {
    private static TcpServer echo(EventManager manager) throws Exception {
        return TcpServer.builder().manager(manager).start((connection, data) -> connection.send(data));
    }

    private static void assertEchoes(TcpServer server) throws Exception {
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), server.address().getPort())) {
            socket.setSoTimeout((int) Await.DEADLINE.toMillis());
            socket.getOutputStream().write(7);
            assertThat(socket.getInputStream().read()).isEqualTo(7);
        }
    }

    /** What a callback returns, or throws. */
    private static <T> CompletableFuture<T> on(EventManager manager, Callable<T> work) {
        CompletableFuture<T> result = new CompletableFuture<>();
        manager.execute(() -> {
            try {
                result.complete(work.call());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    @ParameterizedTest
    @EnumSource(Managers.class)
    @DisplayName("end-3: two callbacks on two loops that each start a server do not wait for each other")
    void twoCallbacksStartOneEach(Managers kind) throws Exception {
        try (EventManager manager = kind.open()) {
            CyclicBarrier both = new CyclicBarrier(2);
            // While both hold their loops: a start that needs the other one's turn would never get it.
            List<CompletableFuture<TcpServer>> started = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                started.add(on(manager, () -> {
                    both.await(10, TimeUnit.SECONDS);
                    TcpServer server = echo(manager);
                    both.await(5, TimeUnit.SECONDS);
                    return server;
                }));
            }
            for (CompletableFuture<TcpServer> server : started) {
                try (TcpServer open = server.get(30, TimeUnit.SECONDS)) {
                    assertEchoes(open);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("io.millrace.conformance.Managers#ours")
    @DisplayName("end-3: a server is started though one of its loops is held up, and is served by it afterwards")
    void aHeldLoop(Managers kind) throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        CountDownLatch entered = new CountDownLatch(1);
        try (Reactors manager = kind.reactors(Clock.system()).reactors(1).open()) {
            CompletableFuture<Boolean> held = on(manager, () -> {
                entered.countDown();
                return gate.await(30, TimeUnit.SECONDS);
            });
            entered.await();
            try (TcpServer server = echo(manager)) {
                assertThat(held).isNotDone();
                gate.countDown();
                assertEchoes(server);
            }
        } finally {
            gate.countDown();
        }
    }

    @Test
    @DisplayName("grpc-16, end-3: the only thread of a foreign manager can start a server on it")
    void theOnlyThreadOfAForeignManager() throws Exception {
        try (Reactors behind =
                        Managers.EPOLL.reactors(Clock.system()).reactors(1).open();
                EventManager manager = foreign(behind)) {
            TcpServer server = on(manager, () -> echo(manager)).get(30, TimeUnit.SECONDS);
            try (server) {
                assertEchoes(server);
            }
        }
    }

    /** A manager that the library does not know as its own. */
    private static EventManager foreign(Reactors behind) {
        return (EventManager) Proxy.newProxyInstance(
                StartingTest.class.getClassLoader(),
                new Class<?>[] {ReadinessEventManager.class},
                (self, method, arguments) -> {
                    try {
                        return method.invoke(behind, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @ParameterizedTest
    @EnumSource(Managers.class)
    @EnabledOnOs(OS.LINUX)
    @DisplayName("end-2: on a manager that has ended, start fails and says so, and leaves nothing behind")
    void onAManagerThatHasEnded(Managers kind) throws Exception {
        try (EventManager warm = kind.open();
                TcpServer server = echo(warm)) {
            assertEchoes(server);
        }
        EventManager manager = kind.open();
        manager.close();
        Map<String, Integer> before = OpenFiles.count();
        assertThatThrownBy(() -> echo(manager))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessageContaining("shut down");
        assertThat(OpenFiles.areNoMoreThan(before))
                .as("%s, not %s", OpenFiles.count(), before)
                .isTrue();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    @DisplayName(
            "end-2: a start that the second loop refuses fails as a whole: its port is free again, and nothing is left")
    void halfAStart() throws Exception {
        try (Reactors manager = Managers.EPOLL
                        .reactors(Clock.system())
                        .backend(HookedProvider.nameFor("epoll"))
                        .open();
                HeldPort held = HeldPort.open()) {
            assertEchoesOnce(manager);
            Map<String, Integer> before = OpenFiles.count();
            int port = held.address().getPort();
            HookedProvider.refuse(2);
            assertThatThrownBy(() -> TcpServer.builder()
                            .manager(manager)
                            .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                            .start((connection, data) -> {}))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("cannot accept on")
                    .hasMessageContaining("no space");
            Await.until(
                    "descriptors as before, " + before + ", not " + OpenFiles.count(),
                    () -> OpenFiles.areNoMoreThan(before));
            try (TcpServer again = TcpServer.builder()
                    .manager(manager)
                    .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                    .start((connection, data) -> connection.send(data))) {
                assertEchoes(again);
            }
        } finally {
            HookedProvider.refuse(0);
        }
    }

    private static void assertEchoesOnce(EventManager manager) throws Exception {
        try (TcpServer server = echo(manager)) {
            assertEchoes(server);
        }
    }
}
