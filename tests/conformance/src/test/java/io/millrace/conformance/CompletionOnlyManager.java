package io.millrace.conformance;

import io.millrace.engine.AlarmCallback;
import io.millrace.engine.AlarmKey;
import io.millrace.engine.CancelResult;
import io.millrace.engine.CompletionDescriptor;
import io.millrace.engine.CompletionEventManager;
import io.millrace.engine.Key;
import io.millrace.engine.Priority;
import io.millrace.engine.Task;
import io.millrace.engine.TaskKey;
import io.millrace.net.ByteStream;
import io.millrace.net.UdpSocket;
import io.millrace.poll.Clock;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;

/** The deliberately different manager without the half that tells of readiness: what libuv's flavour offers, and no more. */
class CompletionOnlyManager implements CompletionEventManager {
    private final ThreadyManager manager;

    CompletionOnlyManager(Clock clock, InstantSource wallClock) {
        this.manager = new ThreadyManager(clock, wallClock);
    }

    /** How many reads are done, and their callbacks have run. */
    long reads() {
        return manager.reads.get();
    }

    boolean isIdle() {
        return manager.isIdle();
    }

    int pendingAlarms() {
        return manager.pendingAlarms();
    }

    @Override
    public CompletionDescriptor registerCompletion(ByteStream stream) {
        return manager.registerCompletion(stream);
    }

    @Override
    public CompletionDescriptor registerCompletion(UdpSocket socket) {
        return manager.registerCompletion(socket);
    }

    @Override
    public void delete(CompletionDescriptor descriptor) {
        manager.delete(descriptor);
    }

    @Override
    public Clock clock() {
        return manager.clock();
    }

    @Override
    public InstantSource wallClock() {
        return manager.wallClock();
    }

    @Override
    public AlarmKey schedule(long deadlineNanos, AlarmCallback callback, Priority priority) {
        return manager.schedule(deadlineNanos, callback, priority);
    }

    @Override
    public AlarmKey scheduleEvery(Duration first, Duration period, AlarmCallback callback, Priority priority) {
        return manager.scheduleEvery(first, period, callback, priority);
    }

    @Override
    public TaskKey run(Runnable task, Priority priority) {
        return manager.run(task, priority);
    }

    @Override
    public List<TaskKey> runAll(List<Task> tasks) {
        return manager.runAll(tasks);
    }

    @Override
    public void execute(Runnable task) {
        manager.execute(task);
    }

    @Override
    public CancelResult cancel(Key key) {
        return manager.cancel(key);
    }

    @Override
    public CancelResult cancelAndWait(Key key) throws InterruptedException {
        return manager.cancelAndWait(key);
    }

    @Override
    public void shutdownRef() {
        manager.shutdownRef();
    }

    @Override
    public void shutdownUnref() {
        manager.shutdownUnref();
    }

    @Override
    public void shutdown() {
        manager.shutdown();
    }

    @Override
    public boolean isShutdown() {
        return manager.isShutdown();
    }

    @Override
    public boolean isTerminated() {
        return manager.isTerminated();
    }

    @Override
    public boolean awaitTermination(Duration atMost) throws InterruptedException {
        return manager.awaitTermination(atMost);
    }

    @Override
    public boolean inManager() {
        return manager.inManager();
    }

    @Override
    public String toString() {
        return "completions of " + manager;
    }
}
