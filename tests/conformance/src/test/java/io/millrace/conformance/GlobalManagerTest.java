package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.EventManager;
import io.millrace.engine.GlobalEventManager;
import io.millrace.poll.Clock;
import io.millrace.server.TcpServer;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The one slot that a JVM has; so each test has a JVM. */
@DisplayName("grpc-13: the global manager")
class GlobalManagerTest {
    private static final List<String> NATIVE = List.of("--enable-native-access=ALL-UNNAMED");

    @Test
    @DisplayName("grpc-13: one of a user is taken once, before the first use, and used; the library does not close it")
    void aUsersOwn() {
        ChildJvm child = ChildJvm.run(Own.class, NATIVE);

        assertThat(child.output()).isEqualTo("""
            global is mine: true
            second refused: true
            global is mine: true
            runs a task: true
            """);
        assertThat(child.exit()).isZero();
    }

    /** The child ends although nobody closed the manager: its threads are daemons. */
    @Test
    @DisplayName("grpc-13: the default is made at the first use, not before, is not replaced, and keeps no JVM alive")
    void theDefault() {
        ChildJvm child = ChildJvm.run(Default.class, NATIVE);

        assertThat(child.output()).isEqualTo("""
            threads before: 0
            threads after: true
            late one refused: true
            the same one: true
            runs a task after a server on it has closed: true
            """);
        assertThat(child.exit()).isZero();
    }

    static final class Own {
        private Own() {}

        public static void main(String[] arguments) throws Exception {
            EventManager mine = new ToyManager(Clock.system(), InstantSource.system());
            GlobalEventManager.register(mine);
            System.out.println("global is mine: " + isTheGlobalOne(mine));
            System.out.println("second refused: " + isRefused(new ToyManager(Clock.system(), InstantSource.system())));
            System.out.println("global is mine: " + isTheGlobalOne(mine));
            System.out.println("runs a task: " + runsATask(mine));
            System.exit(0); // a toy's thread need not be a daemon
        }
    }

    static final class Default {
        private Default() {}

        public static void main(String[] arguments) throws Exception {
            System.out.println("threads before: " + threads());
            EventManager global = GlobalEventManager.global();
            System.out.println("threads after: " + (threads() > 0));
            System.out.println(
                    "late one refused: " + isRefused(new ToyManager(Clock.system(), InstantSource.system())));
            System.out.println("the same one: " + isTheGlobalOne(global));
            TcpServer.builder().start((connection, data) -> {}).close();
            System.out.println("runs a task after a server on it has closed: " + runsATask(global));
        }

        private static long threads() {
            return Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().startsWith("millrace-"))
                    .count();
        }
    }

    @SuppressWarnings("ReferenceEquality") // the very same
    private static boolean isTheGlobalOne(EventManager manager) {
        return GlobalEventManager.global() == manager;
    }

    private static boolean isRefused(EventManager manager) {
        try {
            GlobalEventManager.register(manager);
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
    }

    private static boolean runsATask(EventManager manager) throws Exception {
        CompletableFuture<Boolean> ran = new CompletableFuture<>();
        manager.execute(() -> ran.complete(true));
        return ran.get(10, TimeUnit.SECONDS);
    }
}
