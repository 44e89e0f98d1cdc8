package io.millrace.soak;

import io.millrace.engine.AlarmCallback;
import io.millrace.engine.AlarmKey;
import io.millrace.engine.CancelResult;
import io.millrace.engine.Key;
import io.millrace.engine.Priority;
import io.millrace.engine.Reactors;
import io.millrace.engine.ReadinessDescriptor;
import io.millrace.engine.ReadinessEventManager;
import io.millrace.engine.Task;
import io.millrace.engine.TaskKey;
import io.millrace.poll.Clock;
import io.millrace.poll.Source;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;

/** A manager that the library does not know as its own: servers and clients have nothing but its public face. */
final class ForeignManager implements ReadinessEventManager {
    private final Reactors inner;

    ForeignManager(Reactors inner) {
        this.inner = inner;
    }

    @Override
    public ReadinessDescriptor register(int fd) throws IOException {
        return inner.register(fd);
    }

    @Override
    public ReadinessDescriptor register(Source source) {
        return inner.register(source);
    }

    @Override
    public void delete(ReadinessDescriptor descriptor) {
        inner.delete(descriptor);
    }

    @Override
    public Clock clock() {
        return inner.clock();
    }

    @Override
    public InstantSource wallClock() {
        return inner.wallClock();
    }

    @Override
    public AlarmKey schedule(long deadlineNanos, AlarmCallback callback, Priority priority) {
        return inner.schedule(deadlineNanos, callback, priority);
    }

    @Override
    public AlarmKey schedule(long deadlineNanos, Duration slack, AlarmCallback callback, Priority priority) {
        return inner.schedule(deadlineNanos, slack, callback, priority);
    }

    @Override
    public AlarmKey scheduleEvery(Duration first, Duration period, AlarmCallback callback, Priority priority) {
        return inner.scheduleEvery(first, period, callback, priority);
    }

    @Override
    public TaskKey run(Runnable task, Priority priority) {
        return inner.run(task, priority);
    }

    @Override
    public List<TaskKey> runAll(List<Task> tasks) {
        return inner.runAll(tasks);
    }

    @Override
    public void execute(Runnable task) {
        inner.execute(task);
    }

    @Override
    public CancelResult cancel(Key key) {
        return inner.cancel(key);
    }

    @Override
    public CancelResult cancelAndWait(Key key) throws InterruptedException {
        return inner.cancelAndWait(key);
    }

    @Override
    public void shutdownRef() {
        inner.shutdownRef();
    }

    @Override
    public void shutdownUnref() {
        inner.shutdownUnref();
    }

    @Override
    public void shutdown() {
        inner.shutdown();
    }

    @Override
    public boolean isShutdown() {
        return inner.isShutdown();
    }

    @Override
    public boolean isTerminated() {
        return inner.isTerminated();
    }

    @Override
    public boolean awaitTermination(Duration atMost) throws InterruptedException {
        return inner.awaitTermination(atMost);
    }

    @Override
    public boolean inManager() {
        return inner.inManager();
    }

    @Override
    public void close() {
        inner.close();
    }

    @Override
    public String toString() {
        return "foreign " + inner;
    }
}
