package io.millrace.conformance;

import io.millrace.engine.Dispatch;
import io.millrace.engine.EventLoop;
import io.millrace.engine.Reactors;
import io.millrace.engine.pool.ComputePool;
import io.millrace.server.TcpServer;
import io.millrace.testkit.Await;
import io.millrace.testkit.OpenFiles;
import java.util.Map;
import java.util.concurrent.Callable;

/** Opens what needs more threads than there can be. Prints a line for each that refused as it should. */
final class ThreadsChild {
    private static final int TOO_MANY = 64;

    private ThreadsChild() {}

    public static void main(String[] arguments) throws Exception {
        try (Reactors warm = Reactors.builder().reactors(1).open()) {
            warm.execute(() -> {});
        }
        try (TcpServer warm =
                TcpServer.builder().reactors(Reactors.builder().reactors(1)).start((connection, data) -> {})) {
            warm.address();
        }
        Map<String, Integer> before = OpenFiles.count();
        refuse(
                "Reactors",
                before,
                () -> Reactors.builder().reactors(TOO_MANY).name("tested").open());
        refuse(
                "EventLoop",
                before,
                () -> EventLoop.builder()
                        .dispatch(Dispatch.POOL)
                        .workers(TOO_MANY)
                        .name("tested")
                        .open());
        refuse(
                "ComputePool",
                before,
                () -> ComputePool.builder().threads(TOO_MANY).name("tested").open());
        refuse(
                "TcpServer",
                before,
                () -> TcpServer.builder()
                        .reactors(Reactors.builder().reactors(1).name("tested"))
                        .dispatch(Dispatch.POOL, TOO_MANY)
                        .start((connection, data) -> {}));
        try (EventLoop loop = EventLoop.builder()
                .dispatch(Dispatch.LOOP)
                .workers(TOO_MANY)
                .withoutWatchdog()
                .name("tested")
                .open()) {
            refuse("EventLoop.run", OpenFiles.count(), () -> {
                loop.run();
                return loop;
            });
        }
        System.exit(0);
    }

    private static void refuse(String what, Map<String, Integer> before, Callable<?> open) throws Exception {
        try {
            System.out.println("not refused: " + open.call());
            System.exit(1);
        } catch (IllegalStateException e) {
            String message = String.valueOf(e.getMessage());
            if (!message.contains("thread") || !message.startsWith("cannot ")) {
                System.out.println("a message that does not help: " + message);
                System.exit(2);
            }
        }
        Clocks.awaitNoThread("tested");
        Clocks.awaitNoThread("millrace-server-worker");
        Await.until(
                "descriptors as before, " + before + ", not " + OpenFiles.count(),
                () -> OpenFiles.areNoMoreThan(before));
        System.out.println("ok " + what);
    }
}
