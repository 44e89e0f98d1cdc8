package io.millrace.conformance;

import io.millrace.engine.AlarmCallback;
import io.millrace.engine.AlarmKey;
import io.millrace.engine.CancelResult;
import io.millrace.engine.CompletionDescriptor;
import io.millrace.engine.CompletionEventManager;
import io.millrace.engine.Key;
import io.millrace.engine.Priority;
import io.millrace.engine.ReadinessDescriptor;
import io.millrace.engine.ReadinessEventManager;
import io.millrace.engine.Task;
import io.millrace.engine.TaskKey;
import io.millrace.net.ByteStream;
import io.millrace.net.FdSource;
import io.millrace.net.UdpSocket;
import io.millrace.poll.Clock;
import io.millrace.poll.Source;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The deliberately different manager of grpc-1. It shares no class with the library's own beyond the public interfaces, and does things in another
 * way wherever the contract leaves a choice: a virtual thread for each task, batch and alarm, so that nothing waits behind anything and
 * priorities mean nothing; one thread that knows only what time it is; and one, {@link IoThread}, that knows only descriptors.
 *
 * <p>It ends when nothing is left alive: {@link #alive} counts what was accepted and has not ended, and the two threads.
 */
final class ThreadyManager implements ReadinessEventManager, CompletionEventManager {
    private static final System.Logger LOG = System.getLogger(ThreadyManager.class.getName());
    private static final AtomicLong NUMBERS = new AtomicLong();

    /** The one that knows the time, and the one that knows descriptors. */
    private static final int THREADS = 2;

    /** Whose callback the thread is running. */
    private static final ThreadLocal<@Nullable ThreadyManager> SERVING = new ThreadLocal<>();

    /** How many reads are done. */
    final AtomicLong reads = new AtomicLong();

    private final Clock clock;
    private final InstantSource wallClock;
    private final IoThread io;
    private final Set<Integer> numbers = ConcurrentHashMap.newKeySet();
    private final CountDownLatch terminated = new CountDownLatch(1);

    private final ReentrantLock lock = new ReentrantLock();
    /** The first alarm is another one, or the end has come. */
    private final Condition changed = lock.newCondition();

    private final TreeSet<Job> alarms =
            new TreeSet<>(Comparator.comparing((Job job) -> job, (a, b) -> Long.signum(a.deadline - b.deadline))
                    .thenComparingLong(job -> job.number));
    private long alive = THREADS;
    private int references;
    private boolean isShutdown;
    private boolean isEnding;

    ThreadyManager(Clock clock, InstantSource wallClock) {
        this.clock = clock;
        this.wallClock = wallClock;
        this.io = new IoThread(this);
        Thread.ofPlatform().name("thready-time").daemon().start(this::watchTheClock);
        Thread.ofPlatform().name("thready-io").daemon().start(() -> {
            try {
                serve(io::run);
            } finally {
                left();
            }
        });
    }

    /** A task or an alarm. Its fields are guarded by itself, its deadline by the lock while it is among the alarms. */
    private static final class Job implements TaskKey, AlarmKey {
        final ThreadyManager owner;
        final AlarmCallback body;
        final boolean isAlarm;
        final long period;
        final long number = NUMBERS.incrementAndGet();
        long deadline;
        private boolean isOver;
        private boolean isStopped;
        private @Nullable Thread runner;

        Job(ThreadyManager owner, AlarmCallback body, boolean isAlarm, long deadline, long period) {
            this.owner = owner;
            this.body = body;
            this.isAlarm = isAlarm;
            this.deadline = deadline;
            this.period = period;
        }

        synchronized boolean begin() {
            if (isOver || runner != null) {
                return false;
            }
            runner = Thread.currentThread();
            return true;
        }

        /** True if it is to run again. */
        synchronized boolean end(boolean again) {
            runner = null;
            isOver = !again || isStopped;
            notifyAll();
            return !isOver;
        }

        synchronized CancelResult cancel() {
            if (isOver) {
                return CancelResult.DONE;
            }
            isStopped = true;
            if (runner != null) {
                return CancelResult.RUNNING;
            }
            runner = Thread.currentThread(); // until end()
            return CancelResult.CANCELLED;
        }

        synchronized boolean isCancelled() {
            return isStopped;
        }

        synchronized CancelResult awaitEnd() throws InterruptedException {
            if (Thread.currentThread().equals(runner)) {
                return CancelResult.RUNNING;
            }
            while (runner != null) {
                wait();
            }
            return CancelResult.DONE;
        }
    }

    // ---- Running ----

    /** Runs user code here and now, as a thread of this manager. */
    void serve(Runnable work) {
        ThreadyManager before = SERVING.get();
        SERVING.set(this);
        try {
            work.run();
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.INFO, "a callback threw", e);
        } finally {
            SERVING.set(before);
        }
    }

    private void start(Runnable work) {
        Thread.ofVirtual().start(work);
    }

    private void run(Job job, boolean fired) {
        if (!job.begin()) {
            return; // cancelled: whoever did that has counted it out
        }
        serve(() -> job.body.onAlarm(fired));
        if (job.end(fired && job.period > 0)) {
            setAgain(job);
        } else {
            left();
        }
    }

    private void setAgain(Job job) {
        boolean cutOff;
        lock.lock();
        try {
            long missed = Math.max(0, clock.nanoTime() - job.deadline) / job.period;
            job.deadline += (missed + 1) * job.period;
            cutOff = isEnding;
            if (!cutOff) {
                alarms.add(job);
                changed.signal();
            }
        } finally {
            lock.unlock();
        }
        if (cutOff) {
            run(job, false);
        } else if (job.isCancelled()) {
            forget(job); // between its end and its return
        }
    }

    /** How many alarms are pending. */
    int pendingAlarms() {
        lock.lock();
        try {
            return alarms.size();
        } finally {
            lock.unlock();
        }
    }

    /** Whether nothing runs, no alarm is due, and no descriptor is served. */
    boolean isIdle() {
        long before = io.idleSince();
        return before >= 0 && nothingRuns() && io.idleSince() == before;
    }

    private boolean nothingRuns() {
        lock.lock();
        try {
            boolean due = !alarms.isEmpty() && alarms.first().deadline - clock.nanoTime() <= 0;
            return !due && alive - alarms.size() == THREADS;
        } finally {
            lock.unlock();
        }
    }

    private void watchTheClock() {
        Runnable unsubscribe = clock.subscribe(() -> {
            lock.lock();
            try {
                changed.signal();
            } finally {
                lock.unlock();
            }
        });
        for (Job due = nextDue(); due != null; due = nextDue()) {
            Job job = due;
            start(() -> run(job, true));
        }
        unsubscribe.run();
        List<Job> rest;
        lock.lock();
        try {
            rest = new ArrayList<>(alarms);
            alarms.clear();
        } finally {
            lock.unlock();
        }
        rest.forEach(job -> start(() -> run(job, false)));
        left();
    }

    /** Waits for it; null at the end. */
    private @Nullable Job nextDue() {
        lock.lock();
        try {
            while (!isEnding) {
                if (alarms.isEmpty()) {
                    changed.awaitUninterruptibly();
                    continue;
                }
                long left = alarms.first().deadline - clock.nanoTime();
                if (left <= 0) {
                    return alarms.pollFirst();
                }
                if (changed.awaitNanos(left) <= 0) {
                    LOG.log(System.Logger.Level.TRACE, "an alarm should be due, if the clock agrees");
                }
            }
            return null;
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts this thread", e);
        } finally {
            lock.unlock();
        }
    }

    // ---- Handing over ----

    /** Counts something in. */
    private void enter(int count) {
        lock.lock();
        try {
            if (isEnding) {
                throw new RejectedExecutionException("cannot take more: " + this);
            }
            alive += count;
        } finally {
            lock.unlock();
        }
    }

    /** Counts one out. */
    private void left() {
        lock.lock();
        try {
            if (--alive == 0) {
                terminated.countDown();
            }
        } finally {
            lock.unlock();
        }
    }

    private Job set(Job job) {
        lock.lock();
        try {
            enter(1);
            alarms.add(job);
            changed.signal();
        } finally {
            lock.unlock();
        }
        return job;
    }

    @Override
    public AlarmKey schedule(long deadlineNanos, AlarmCallback callback, Priority priority) {
        return set(new Job(this, callback, true, deadlineNanos, 0));
    }

    /** Without any use of the slack, which is allowed. */
    @Override
    public AlarmKey schedule(long deadlineNanos, Duration slack, AlarmCallback callback, Priority priority) {
        return schedule(deadlineNanos, callback, priority);
    }

    @Override
    public AlarmKey scheduleEvery(Duration first, Duration period, AlarmCallback callback, Priority priority) {
        if (!period.isPositive()) {
            throw new IllegalArgumentException("a period is positive, not " + period);
        }
        return set(new Job(this, callback, true, clock.nanoTime() + nanos(first), nanos(period)));
    }

    private static long nanos(Duration duration) {
        return duration.isNegative() ? 0 : Math.min(TimeUnit.NANOSECONDS.convert(duration), Long.MAX_VALUE / 4);
    }

    @Override
    public TaskKey run(Runnable task, Priority priority) {
        Job job = new Job(this, fired -> task.run(), false, 0, 0);
        enter(1);
        start(() -> run(job, true));
        return job;
    }

    @Override
    public List<TaskKey> runAll(List<Task> tasks) {
        List<Job> jobs = new ArrayList<>();
        for (Task task : tasks) {
            jobs.add(new Job(this, fired -> task.work().run(), false, 0, 0));
        }
        enter(jobs.size());
        List<Job> batch = List.copyOf(jobs);
        start(() -> batch.forEach(job -> run(job, true)));
        return List.copyOf(jobs);
    }

    @Override
    public void execute(Runnable task) {
        run(task, Priority.NORMAL);
    }

    // ---- Cancelling ----

    @Override
    public CancelResult cancel(Key key) {
        Job job = ours(key);
        CancelResult result = job.cancel();
        if (result == CancelResult.CANCELLED) {
            forget(job);
            if (job.isAlarm) {
                try {
                    job.body.onAlarm(false);
                } catch (Throwable e) {
                    LOG.log(System.Logger.Level.INFO, "a cancelled alarm threw", e);
                }
            }
            job.end(false);
            left();
        }
        return result;
    }

    private void forget(Job job) {
        lock.lock();
        try {
            alarms.remove(job);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public CancelResult cancelAndWait(Key key) throws InterruptedException {
        CancelResult result = cancel(key);
        return result == CancelResult.RUNNING ? ours(key).awaitEnd() : result;
    }

    private Job ours(Key key) {
        if (key instanceof Job job && job.owner == this) {
            return job;
        }
        throw new IllegalArgumentException(key + " is no key of " + this);
    }

    // ---- Descriptors ----

    @Override
    public ReadinessDescriptor register(int fd) throws IOException {
        if (!numbers.add(fd)) {
            throw new IllegalStateException("fd " + fd + " is registered already");
        }
        boolean registered = false;
        try {
            ReadinessDescriptor descriptor = register(FdSource.adopt(fd), fd);
            registered = true;
            return descriptor;
        } finally {
            if (!registered) {
                numbers.remove(fd);
            }
        }
    }

    @Override
    public ReadinessDescriptor register(Source source) {
        return register(source, -1);
    }

    private ReadinessDescriptor register(Source source, int fd) {
        ThreadyReadiness descriptor = new ThreadyReadiness(this, io, source, fd);
        io.register(descriptor, source);
        return descriptor;
    }

    void forgetNumber(int fd) {
        numbers.remove(fd);
    }

    @Override
    public void delete(ReadinessDescriptor descriptor) {
        requireOurs(descriptor.manager() == this, descriptor);
        descriptor.release();
    }

    @Override
    public CompletionDescriptor registerCompletion(ByteStream stream) {
        ThreadyCompletion descriptor = new ThreadyCompletion(this, io, stream, null);
        io.register(descriptor, stream);
        return descriptor;
    }

    @Override
    public CompletionDescriptor registerCompletion(UdpSocket socket) {
        ThreadyCompletion descriptor = new ThreadyCompletion(this, io, null, socket);
        io.register(descriptor, socket);
        return descriptor;
    }

    @Override
    public void delete(CompletionDescriptor descriptor) {
        requireOurs(descriptor.manager() == this, descriptor);
        descriptor.close();
    }

    private void requireOurs(boolean isOurs, Object descriptor) {
        if (!isOurs) {
            throw new IllegalArgumentException(descriptor + " is no descriptor of " + this);
        }
    }

    // ---- Ending ----

    @Override
    public void shutdownRef() {
        lock.lock();
        try {
            if (isEnding) {
                throw new IllegalStateException("it has ended");
            }
            references++;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void shutdownUnref() {
        lock.lock();
        try {
            if (references == 0) {
                throw new IllegalStateException("no reference is held");
            }
            references--;
            endIfFree();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void shutdown() {
        lock.lock();
        try {
            isShutdown = true;
            endIfFree();
        } finally {
            lock.unlock();
        }
    }

    private void endIfFree() {
        if (isShutdown && references == 0 && !isEnding) {
            isEnding = true;
            changed.signal();
            io.end();
        }
    }

    @Override
    public boolean isShutdown() {
        lock.lock();
        try {
            return isShutdown;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean isTerminated() {
        return terminated.getCount() == 0;
    }

    @Override
    public boolean awaitTermination(Duration atMost) throws InterruptedException {
        return terminated.await(nanos(atMost), TimeUnit.NANOSECONDS);
    }

    @Override
    public boolean inManager() {
        return SERVING.get() == this;
    }

    @Override
    public Clock clock() {
        return clock;
    }

    @Override
    public InstantSource wallClock() {
        return wallClock;
    }

    @Override
    public String toString() {
        return "an event manager of many threads" + (isShutdown() ? ", shut down" : "");
    }
}
