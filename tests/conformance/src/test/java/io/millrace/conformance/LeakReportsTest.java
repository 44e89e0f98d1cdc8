package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Reactors;
import io.millrace.poll.Clock;
import io.millrace.poll.internal.LeakTracker;
import io.millrace.testkit.Await;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("Reports of leaks, which a loop finds by the way")
@Timeout(60)
class LeakReportsTest {
    /** Where reports of leaks go; it can throw. */
    private static final class Told extends Handler {
        private final List<LogRecord> records = new CopyOnWriteArrayList<>();
        private final boolean isThrowing;

        Told(boolean isThrowing) {
            this.isThrowing = isThrowing;
        }

        @Override
        public void publish(LogRecord log) {
            if (log.getMessage().startsWith("leak: Thing of a test")) {
                records.add(log);
                if (isThrowing) {
                    throw new IllegalStateException("a logger that throws");
                }
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    private static void dropSome(AtomicInteger closed) {
        LeakTracker.track(new Object(), "Thing of a test", "that cannot be closed", () -> {
            closed.incrementAndGet();
            throw new IllegalStateException("thrown by a close");
        });
        LeakTracker.track(new Object(), "Thing of a test", "that is closed", closed::incrementAndGet);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.millrace.conformance.Managers#ours")
    @DisplayName(
            "end-1, mr-7: a logger that throws, and a source whose close throws, end neither the loop nor the search")
    void throwingLogger(Managers kind) throws Exception {
        Logger logger = Logger.getLogger("io.millrace");
        Told handler = new Told(true);
        AtomicInteger closed = new AtomicInteger();
        logger.addHandler(handler);
        logger.setUseParentHandlers(false);
        try (Reactors manager = kind.reactors(Clock.system()).open()) {
            dropSome(closed);
            Await.until("both are found by a loop", () -> {
                System.gc();
                manager.execute(() -> {});
                return closed.get() == 2 && handler.records.size() == 2;
            });
            CompletableFuture.runAsync(() -> {}, manager).get(10, TimeUnit.SECONDS);
            assertThat(manager.isShutdown()).isFalse();
        } finally {
            logger.setUseParentHandlers(true);
            logger.removeHandler(handler);
        }
    }

    @Test
    @DisplayName(
            "mr-7: what was dropped is closed and reported once, with its place if that is asked for; what was closed is not")
    void reportedOnce() {
        Logger logger = Logger.getLogger("io.millrace");
        Told handler = new Told(false);
        AtomicInteger closed = new AtomicInteger();
        logger.addHandler(handler);
        logger.setUseParentHandlers(false);
        String before = System.setProperty("millrace.leaks", "all");
        try {
            dropSome(closed);
            LeakTracker.track(new Object(), "Thing of a test", "that was closed", closed::incrementAndGet)
                    .forget();
            LeakTracker.track(new Object(), "Thing of a test", "that comes last", closed::incrementAndGet);
            Await.until("those that were dropped are found", () -> {
                System.gc();
                LeakTracker.sweep();
                return handler.records.size() >= 3;
            });
            System.gc();
            LeakTracker.sweep();
        } finally {
            logger.setUseParentHandlers(true);
            logger.removeHandler(handler);
            if (before == null) {
                System.clearProperty("millrace.leaks");
            } else {
                System.setProperty("millrace.leaks", before);
            }
        }
        assertThat(closed).hasValue(3);
        assertThat(handler.records)
                .extracting(LogRecord::getMessage)
                .hasSize(3)
                .anyMatch(text -> text.contains("that cannot be closed") && text.contains("thrown by a close"))
                .anyMatch(text -> text.contains("that is closed was collected without close(); it is closed now"))
                .anyMatch(text -> text.contains("that comes last"));
        assertThat(handler.records)
                .allMatch(log ->
                        List.of(log.getThrown().getStackTrace()).toString().contains("LeakReportsTest"));
    }
}
