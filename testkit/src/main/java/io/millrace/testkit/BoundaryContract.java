package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.engine.AlarmCallback;
import io.millrace.engine.AlarmKey;
import io.millrace.engine.CancelResult;
import io.millrace.engine.CompletionDescriptor;
import io.millrace.engine.CompletionEventManager;
import io.millrace.engine.EventManager;
import io.millrace.engine.NotifyOutcome;
import io.millrace.engine.Priority;
import io.millrace.engine.ReadResult;
import io.millrace.engine.ReadinessDescriptor;
import io.millrace.engine.ReadinessEventManager;
import io.millrace.engine.Task;
import io.millrace.engine.WriteResult;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Whatever user code throws at a boundary of a manager, and whatever its {@code toString} does, is contained, and
 * everything else goes on.
 */
@DisplayName("Boundaries")
public abstract class BoundaryContract extends ManagerContract<EventManager> {
    private Reports reports;

    /** For subclasses. */
    protected BoundaryContract() {}

    /**
     * Returns whether the manager reports what it contains to the logger {@code io.millrace}.
     *
     * @return false if it reports elsewhere
     */
    protected boolean reports() {
        return false;
    }

    /** Starts to listen to the logger. */
    @BeforeEach
    protected final void listen() {
        reports = new Reports();
    }

    /** Stops listening to the logger. */
    @AfterEach
    protected final void stopListening() {
        reports.close();
    }

    /** User code that throws, and whose {@code toString} throws. */
    private static class Hostile implements Runnable, AlarmCallback, Supplier<ByteBuffer>, Consumer<Object> {
        private final Thrown thrown;
        final AtomicInteger calls = new AtomicInteger();

        Hostile(Thrown thrown) {
            this.thrown = thrown;
        }

        @Override
        public void run() {
            calls.incrementAndGet();
            thrown.raise();
        }

        @Override
        public void onAlarm(boolean fired) {
            run();
        }

        @Override
        public ByteBuffer get() {
            run();
            return ByteBuffer.allocate(0);
        }

        @Override
        public void accept(Object result) {
            run();
        }

        @Override
        public String toString() {
            throw new IllegalStateException("thrown by the toString of a test");
        }

        void await(int times) {
            Await.until(times + " calls, not " + calls, () -> calls.get() >= times);
        }
    }

    /** One of the ways in which a manager calls user code. */
    private interface Boundary {
        /** Makes the manager call it, and returns how often. */
        int call(Hostile code) throws Exception;
    }

    private void everyKind(String boundary, Boundary by) throws Exception {
        for (Thrown thrown : Thrown.values()) {
            Hostile code = new Hostile(thrown);
            int before = reports.count();
            int times = by.call(code);
            code.await(times);
            turns(manager);
            assertThat(code.calls).as(boundary + " that throws " + thrown).hasValue(times);
            if (reports()) {
                Await.until("all are reported: " + boundary + ", " + thrown, () -> reports.count() >= before + times);
            }
        }
        assertThat(manager.isShutdown()).isFalse();
    }

    @Test
    @DisplayName("end-1: tasks may throw anything")
    void tasks() throws Exception {
        everyKind("a task", code -> {
            manager.execute(code);
            manager.run(code, Priority.HIGH);
            manager.runAll(List.of(new Task(code), new Task(code, Priority.LOW)));
            return 4;
        });
    }

    @Test
    @DisplayName("end-1: alarms may throw anything: when they fire, when they are cancelled, and each time")
    void alarms() throws Exception {
        everyKind("an alarm", code -> {
            manager.schedule(Duration.ZERO, code);
            return 1;
        });
        everyKind("an alarm that is cancelled", code -> {
            assertThat(manager.cancel(manager.schedule(FAR, code))).isEqualTo(CancelResult.CANCELLED);
            return 1;
        });
        for (Thrown thrown : Thrown.values()) {
            Hostile code = new Hostile(thrown);
            AlarmKey key = manager.scheduleEvery(Duration.ZERO, Duration.ofMillis(1), code, Priority.NORMAL);
            code.await(3);
            manager.cancelAndWait(key);
        }
    }

    @Test
    @DisplayName("end-1, grpc-18: alarms that are cut off and tasks that are queued at the end may throw anything")
    void atTheEnd() {
        for (Thrown thrown : Thrown.values()) {
            EventManager ending = closing(open());
            Hostile code = new Hostile(thrown);
            int before = reports.count();
            for (int i = 0; i < 3; i++) {
                ending.schedule(FAR, code);
                ending.execute(code);
            }
            AtomicInteger others = new AtomicInteger();
            ending.schedule(FAR, fired -> others.incrementAndGet());
            Background.run(ending::close).result();
            assertThat(ending.isTerminated()).isTrue();
            assertThat(code.calls).hasValue(6);
            assertThat(others).hasValue(1);
            if (reports()) {
                assertThat(reports.count()).isGreaterThanOrEqualTo(before + 6);
            }
        }
    }

    @Test
    @DisplayName("end-1, grpc-11: notifications may throw anything: ready, forced, timed out, closed")
    void notifications() throws Exception {
        assumeTrue(manager instanceof ReadinessEventManager, "this manager has no descriptors");
        ReadinessEventManager readiness = (ReadinessEventManager) manager;
        SocketPair pair = socketPair();
        ReadinessDescriptor descriptor = closing(readiness.register(pair.left()));
        everyKind("a notification", code -> {
            descriptor.notifyWhenWritable(code);
            descriptor.forceWritable();
            code.await(1);
            descriptor.notifyWhenHasError(code);
            descriptor.forceHasError();
            code.await(2);
            descriptor.notifyWhenReadableOrTimeout(code::accept, manager.clock().nanoTime());
            code.await(3);
            ReadinessDescriptor brief = readiness.register(pair.right());
            brief.notifyWhenReadable(code);
            brief.release();
            return 4;
        });
        AtomicInteger told = new AtomicInteger();
        descriptor.notifyWhenReadableOrTimeout(
                outcome -> told.addAndGet(outcome == NotifyOutcome.TIMED_OUT ? 1 : 0),
                manager.clock().nanoTime());
        Await.until("it goes on", () -> told.get() == 1);
    }

    @Test
    @DisplayName("end-1, grpc-12: allocators and callbacks of reads and writes may throw anything")
    void completions() throws Exception {
        assumeTrue(manager instanceof CompletionEventManager, "this manager has no completion descriptors");
        CompletionEventManager completion = (CompletionEventManager) manager;
        SocketPair pair = socketPair();
        CompletionDescriptor descriptor = closing(completion.registerCompletion(pair.left()));
        everyKind("a callback of a descriptor", code -> {
            descriptor.write(List.of(ByteBuffer.wrap(new byte[1])), code::accept);
            code.await(1);
            descriptor.read(() -> ByteBuffer.allocate(1), code::accept);
            Bytes.write(pair.right(), 1);
            code.await(2);
            SocketPair other = socketPair();
            CompletionDescriptor brief = completion.registerCompletion(other.left());
            brief.read(() -> ByteBuffer.allocate(1), code::accept);
            brief.close();
            return 3;
        });
        for (Thrown thrown : Thrown.values()) {
            AtomicInteger failed = new AtomicInteger();
            descriptor.read(
                    new Hostile(thrown), result -> failed.addAndGet(result instanceof ReadResult.Failed ? 1 : 0));
            Bytes.write(pair.right(), 1);
            Await.until("the read has failed: " + thrown, () -> failed.get() == 1);
            AtomicInteger read = new AtomicInteger();
            descriptor.read(
                    () -> ByteBuffer.allocate(1), result -> read.addAndGet(result instanceof ReadResult.Data ? 1 : 0));
            Await.until("the next one reads: " + thrown, () -> read.get() == 1);
        }
        AtomicInteger written = new AtomicInteger();
        descriptor.write(
                List.of(ByteBuffer.wrap(new byte[1])),
                result -> written.addAndGet(result instanceof WriteResult.Written ? 1 : 0));
        Await.until("it goes on", () -> written.get() == 1);
    }
}
