package io.millrace.engine;

import io.millrace.engine.descriptor.BorrowedFdSource;
import io.millrace.engine.descriptor.DescriptorTable;
import io.millrace.engine.descriptor.FdReadiness;
import io.millrace.engine.descriptor.StreamCompletion;
import io.millrace.engine.internal.Background;
import io.millrace.engine.internal.Deadline;
import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.internal.Insistence;
import io.millrace.engine.internal.Threads;
import io.millrace.engine.reactor.Alarm;
import io.millrace.engine.reactor.Cancellable;
import io.millrace.engine.reactor.EngineSettings;
import io.millrace.engine.reactor.KeyedTask;
import io.millrace.engine.reactor.Lifecycle;
import io.millrace.engine.reactor.LoopThread;
import io.millrace.engine.reactor.MetricsView;
import io.millrace.engine.reactor.Reactor;
import io.millrace.engine.transport.ReactorServerLoop;
import io.millrace.engine.watchdog.Watchdog;
import io.millrace.net.ByteStream;
import io.millrace.net.UdpSocket;
import io.millrace.poll.BackendReport;
import io.millrace.poll.Clock;
import io.millrace.poll.ClosedPollException;
import io.millrace.poll.Source;
import io.millrace.poll.SourceHandle;
import io.millrace.poll.internal.Durations;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Millrace's {@link EventManager}: N reactors, each of which is one thread with a poll, a run queue by priority, and
 * alarms.
 *
 * {@snippet :
 * Reactors manager = Reactors.open();
 * manager.execute(() -> System.out.println("soon"));
 * manager.schedule(Duration.ofSeconds(1), fired -> System.out.println(fired ? "a second later" : "closed first"));
 * // ... and when the program ends:
 * manager.close();
 * }
 *
 * <p><b>Which reactor runs what.</b> A source is assigned to a reactor in rotation when it is registered, and stays
 * there; so its callbacks are in order and need no lock. A task or an alarm that a callback submits stays on the
 * reactor of that callback. If it comes from another thread, it goes to the reactors in rotation; all tasks of one
 * {@link #runAll} go to the same reactor.
 *
 * <p><b>Order.</b> {@link Priority} describes the order within a reactor. There is none between reactors.
 *
 * <p><b>Idle.</b> While there is nothing to do, its threads make no system calls.
 *
 * <p><b>Failures.</b> An exception in user code ends nothing. An interrupt that user code leaves behind is cleared,
 * because the threads are stopped by a flag. If a reactor itself fails, the whole manager ends, and {@link
 * #termination} says why. A full heap may be such a failure; then the end is told when there is memory for that.
 *
 * <p><b>Ending.</b> When the manager ends, so does everything that runs on it: connections and the listeners of their
 * servers are closed, pending callbacks of descriptors are called with CLOSED, and pending alarms with false. A handler
 * that does not return keeps its reactor alive. At the deadline of {@link #shutdown(Duration)} the peers of that
 * reactor's connections are cut off; the rest follows when the handler returns.
 *
 * <p><b>Watchdog.</b> On by default. A handler, task or alarm that holds its thread for 100 ms is logged to {@code
 * io.millrace.watchdog}, with what is running and where. This does not include time in which the thread was not
 * scheduled or the process was stopped, nor a long turn of many items; these are counted and summed up in at most one
 * line a minute.
 *
 * <h2>Portability</h2>
 * Works everywhere. On NIO there are no numeric descriptors, so {@link #register(int)} throws.
 */
public final class Reactors implements ReadinessEventManager, CompletionEventManager {
    // One class, because it is the public face of several reactors and has hardly any state of its own: the two manager
    // interfaces, the builder, and the choice of a reactor for each call. Reactor does the work of a call, and the
    // package descriptor that of descriptors; what is left here is the life cycle of the whole, from the first thread
    // to the last.

    static {
        LoopAccess.handOver();
    }

    private final String name;
    private final Clock clock;
    private final InstantSource wallClock;
    private final Reactor[] reactors;
    private final List<ReactorServerLoop> loops;
    private final @Nullable Watchdog watchdog;
    private final Lifecycle lifecycle = new Lifecycle(this);
    private final CountDownLatch running;
    /** Completes when all reactors have ended. */
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    private final CompletableFuture<Void> termination = new CompletableFuture<>();
    private final AtomicInteger next = new AtomicInteger();
    private final DescriptorTable descriptors = new DescriptorTable();
    /** Created beforehand, because a lack of memory may be the reason why it ends. */
    private final BooleanSupplier tellEnd = this::tryTellEnd;

    /** Why the manager fails, until it could be reported. */
    private volatile @Nullable Throwable failure;

    private Reactors(Builder settings) {
        this.name = settings.name;
        this.clock = settings.engine.clock;
        this.wallClock = settings.wallClock;
        List<Reactor> all = settings.engine.openReactors(name, settings.reactors);
        this.reactors = all.toArray(Reactor[]::new);
        this.loops = all.stream()
                .map(reactor -> new ReactorServerLoop(reactor, clock))
                .toList();
        this.running = new CountDownLatch(reactors.length);
        this.watchdog = settings.engine.watchdogOf(name, List.copyOf(all));
        start(settings.daemon);
    }

    /** Starts all threads. If one cannot be started, ends those that were, and throws. */
    private void start(boolean daemon) {
        int started = 0;
        try {
            for (Reactor reactor : reactors) {
                new ReactorThread(this, reactor, daemon).start();
                started++;
            }
            if (watchdog != null) {
                watchdog.start();
            }
        } catch (Throwable e) {
            shutdown();
            for (int i = started; i < reactors.length; i++) {
                finish(reactors[i]);
            }
            Deadline.after(clock, Deadline.A_LITTLE).await(ended);
            throw Threads.tooFew(name, started, reactors.length + (watchdog == null ? 0 : 1), e);
        }
    }

    /**
     * Opens a manager with the defaults: one reactor per core, on the best backend.
     *
     * @return a running manager, which the caller must close
     */
    public static Reactors open() {
        return builder().open();
    }

    /**
     * Returns a builder, for settings other than the defaults.
     *
     * @return a builder with the defaults
     */
    public static Builder builder() {
        return new Builder();
    }

    /** A reactor's thread. It knows its manager without reading anything that is shared. */
    private static final class ReactorThread extends LoopThread {
        private final Reactors manager;
        private final Reactor reactor;

        ReactorThread(Reactors manager, Reactor reactor, boolean daemon) {
            super(() -> {}, reactor.name());
            this.manager = manager;
            this.reactor = reactor;
            setDaemon(daemon);
        }

        @Override
        public void run() {
            try {
                reactor.run(Reactor.FOREVER, null);
            } catch (Throwable e) {
                manager.endAfterFailure(reactor, e);
            } finally {
                manager.finish(reactor);
            }
        }
    }

    /**
     * Ends the whole manager, because a step of the engine itself has failed: the work of one reactor is lost, which
     * must not go unnoticed.
     */
    private void endAfterFailure(Reactor reactor, Throwable cause) {
        failure = cause;
        try {
            lifecycle.force();
            end();
            FailureLog.report(reactor.name(), "failed, so " + name + " ends", cause);
            termination.completeExceptionally(cause);
        } catch (Throwable e) {
            // Out of memory, or a stage of the user threw. It is tried again when this reactor's connections are
            // closed.
        }
    }

    private void finish(Reactor reactor) {
        try {
            reactor.finish(descriptors.all());
        } catch (Throwable e) {
            FailureLog.reportEnd(reactor, e);
        } finally {
            running.countDown();
            Insistence.until(tellEnd);
        }
    }

    /**
     * Tells whoever waits for the end. Returns false if it must be tried again, because the heap is full or because
     * somebody has not been told: a full heap also shows as a class that cannot be loaded or linked.
     */
    private boolean tryTellEnd() {
        Throwable cause = failure;
        boolean last = running.getCount() == 0;
        try {
            try {
                if (cause != null) {
                    try {
                        lifecycle.force();
                        end();
                    } finally {
                        termination.completeExceptionally(cause);
                    }
                }
            } finally {
                if (last) {
                    onEnded();
                }
            }
            return true;
        } catch (OutOfMemoryError e) {
            return false;
        } catch (Throwable e) {
            return (cause == null || termination.isDone()) && (!last || (ended.isDone() && termination.isDone()));
        }
    }

    private void onEnded() {
        try {
            if (watchdog != null) {
                watchdog.stop();
            }
        } finally {
            try {
                ended.complete(null);
            } finally {
                termination.complete(null);
            }
        }
    }

    /** Returns the reactor of the calling thread if it is one of ours, else the next in rotation. */
    Reactor pick() {
        if (reactors.length == 1) {
            return reactors[0];
        }
        if (Thread.currentThread() instanceof ReactorThread thread && thread.manager == this) {
            return thread.reactor;
        }
        return pickInTurn();
    }

    private Reactor pickInTurn() {
        return reactors[Math.floorMod(next.getAndIncrement(), reactors.length)];
    }

    @Override
    public Clock clock() {
        return clock;
    }

    @Override
    public InstantSource wallClock() {
        return wallClock;
    }

    // ---- Alarms ----

    @Override
    public AlarmKey schedule(long deadlineNanos, AlarmCallback callback, Priority priority) {
        return schedule(deadlineNanos, 0, 0, callback, priority);
    }

    @Override
    public AlarmKey schedule(long deadlineNanos, Duration slack, AlarmCallback callback, Priority priority) {
        if (slack.isNegative()) {
            throw new IllegalArgumentException("a slack must not be negative: " + slack);
        }
        return schedule(deadlineNanos, Durations.nanosOrZero(slack), 0, callback, priority);
    }

    @Override
    public AlarmKey scheduleEvery(Duration first, Duration period, AlarmCallback callback, Priority priority) {
        long periodNanos = Durations.positiveNanos(period, "a period");
        return schedule(clock.nanoTime() + Durations.nanosOrZero(first), 0, periodNanos, callback, priority);
    }

    private AlarmKey schedule(
            long deadlineNanos, long slackNanos, long periodNanos, AlarmCallback callback, Priority priority) {
        Objects.requireNonNull(callback, "callback");
        Objects.requireNonNull(priority, "priority");
        Alarm alarm = new Alarm(pick(), deadlineNanos, slackNanos, periodNanos, callback, priority);
        alarm.reactor.schedule(alarm);
        return alarm;
    }

    // ---- Tasks ----

    @Override
    public void execute(Runnable task) {
        pick().execute(task);
    }

    @Override
    public TaskKey run(Runnable task, Priority priority) {
        Objects.requireNonNull(task, "task");
        KeyedTask keyed = new KeyedTask(pick(), task);
        keyed.reactor.execute(keyed, priority);
        return keyed;
    }

    @Override
    public List<TaskKey> runAll(List<Task> tasks) {
        List<Task> all = List.copyOf(tasks);
        Reactor reactor = pick();
        List<TaskKey> keys = new ArrayList<>(all.size());
        try {
            for (Task task : all) {
                KeyedTask keyed = new KeyedTask(reactor, task.work());
                reactor.post(keyed, task.priority());
                keys.add(keyed);
            }
        } catch (RejectedExecutionException e) {
            keys.forEach(this::cancel);
            throw e;
        }
        reactor.wake();
        return List.copyOf(keys);
    }

    // ---- Cancelling ----

    @Override
    public CancelResult cancel(Key key) {
        Cancellable ours = ours(key);
        return ours.reactor.cancel(ours);
    }

    @Override
    public CancelResult cancelAndWait(Key key) throws InterruptedException {
        Cancellable ours = ours(key);
        CancelResult result = ours.reactor.cancel(ours);
        if (result == CancelResult.RUNNING && !ours.isRunByThisThread()) {
            ours.awaitEnd();
            return CancelResult.DONE;
        }
        return result;
    }

    private Cancellable ours(Key key) {
        if (key instanceof Cancellable ours) {
            for (Reactor reactor : reactors) {
                if (reactor == ours.reactor) {
                    return ours;
                }
            }
        }
        throw new IllegalArgumentException("cannot cancel " + Objects.requireNonNull(key, "key")
                + ": it is not a key of " + name + "; ask the manager that gave it to you");
    }

    // ---- Descriptors ----

    @Override
    public ReadinessDescriptor register(int fd) {
        if (!descriptors.claim(fd)) {
            throw new IllegalStateException("cannot register fd " + fd + ": it is registered with " + name
                    + "; close or release that one first");
        }
        boolean registered = false;
        try {
            ReadinessDescriptor descriptor = register(BorrowedFdSource.of(fd, reactors[0].poll));
            registered = true;
            return descriptor;
        } finally {
            if (!registered) {
                descriptors.disclaim(fd);
            }
        }
    }

    @Override
    public ReadinessDescriptor register(Source source) {
        requireAccepting("register " + source);
        FdReadiness descriptor = new FdReadiness(this, descriptors, pickInTurn(), source);
        descriptors.add(descriptor);
        boolean registered = false;
        try {
            descriptor.register();
            // It is in the table, so the reactor's last turn finds it, unless that turn is already over.
            if (descriptor.reactor.hasFinished()) {
                descriptor.onReactorEnd();
                throw ended("register " + source);
            }
            registered = true;
        } catch (ClosedPollException e) {
            throw ended("register " + source); // this reactor has ended, even if others have not
        } finally {
            if (!registered) {
                descriptors.remove(descriptor);
            }
        }
        return descriptor;
    }

    @Override
    public void delete(ReadinessDescriptor descriptor) {
        if (!(descriptor instanceof FdReadiness ours) || ours.manager() != this) {
            throw new IllegalArgumentException("cannot delete " + descriptor + ": it is not a descriptor of " + name);
        }
        ours.release();
    }

    @Override
    public CompletionDescriptor registerCompletion(ByteStream stream) {
        return register(StreamCompletion.of(this, descriptors, pickInTurn(), stream));
    }

    @Override
    public CompletionDescriptor registerCompletion(UdpSocket socket) {
        return register(StreamCompletion.of(this, descriptors, pickInTurn(), socket));
    }

    private CompletionDescriptor register(StreamCompletion descriptor) {
        requireAccepting("register " + descriptor);
        descriptors.add(descriptor);
        boolean registered = false;
        try {
            descriptor.register();
            if (descriptor.reactor.hasFinished()) {
                descriptor.close();
                throw ended("register " + descriptor);
            }
            registered = true;
        } catch (ClosedPollException e) {
            throw ended("register " + descriptor);
        } finally {
            if (!registered) {
                descriptors.remove(descriptor);
            }
        }
        return descriptor;
    }

    @Override
    public void delete(CompletionDescriptor descriptor) {
        if (!(descriptor instanceof StreamCompletion ours) || ours.manager() != this) {
            throw new IllegalArgumentException("cannot delete " + descriptor + ": it is not a descriptor of " + name);
        }
        ours.close();
    }

    private void requireAccepting(String doing) {
        if (running.getCount() == 0) {
            throw ended(doing);
        }
    }

    private RejectedExecutionException ended(String doing) {
        return new RejectedExecutionException("cannot " + doing + ": " + name + " has shut down");
    }

    // ---- Ending ----

    @Override
    public void shutdownRef() {
        lifecycle.ref();
    }

    @Override
    public void shutdownUnref() {
        if (lifecycle.unref()) {
            end();
        }
    }

    @Override
    public void shutdown() {
        if (lifecycle.shutdown()) {
            end();
        }
    }

    List<ReactorServerLoop> loops() {
        return loops;
    }

    /** Returns the reactor that watches a source in waits: always the same, because a source in software stays there. */
    Reactor reactorOf(SourceHandle handle) {
        return reactors[Math.floorMod(System.identityHashCode(handle), reactors.length)];
    }

    private void end() {
        for (Reactor reactor : reactors) {
            reactor.requestEnd(); // for all of them first, because this cannot fail
        }
        for (Reactor reactor : reactors) {
            reactor.wake();
        }
    }

    /**
     * Shuts down and waits for the end until the deadline. The deadline takes precedence over references that are held
     * and over handlers that do not return: at the deadline the manager ends despite the references, and connections
     * that a handler keeps from ending are cut off from their peers. Returns at most a quarter of a second after the
     * deadline. Called from a callback of this manager, it returns at once, and the rest happens in the background. An
     * interrupt does not cut the wait short; the interrupt status is restored for the caller. Any thread may call this,
     * any number of times; the earliest deadline counts.
     *
     * @param atMost how long to wait for references and for running work
     * @return empty if it has ended in time; otherwise a human-readable list of what kept it
     */
    public List<String> shutdown(Duration atMost) {
        Deadline deadline = Deadline.after(clock, atMost);
        shutdown();
        if (ended.isDone()) {
            return List.of();
        }
        if (inManager()) {
            Background.run(name + "-shutdown", () -> endBy(deadline));
            return remains();
        }
        return endBy(deadline);
    }

    private List<String> endBy(Deadline deadline) {
        if (deadline.await(ended)) {
            return List.of();
        }
        List<String> remains = remains();
        if (lifecycle.force()) {
            end();
        }
        if (!deadline.andALittle().await(ended)) {
            for (Reactor reactor : reactors) {
                if (!reactor.hasFinished()) {
                    reactor.cutOffSinks();
                    remains.add(reactor.name() + " has not ended");
                }
            }
        }
        return remains;
    }

    /** The same as {@link #shutdown(Duration)} with ten seconds; whatever has not ended by then is logged. */
    @Override
    public void close() {
        List<String> remains = shutdown(Deadline.OF_CLOSE);
        if (!remains.isEmpty() && !inManager()) {
            FailureLog.warn("closed " + name + ", which has not ended in time: " + String.join("; ", remains));
        }
    }

    /**
     * Returns a future that says when the manager has ended, and whether it was shut down or failed.
     *
     * @return completes when all threads have ended; or exceptionally, as soon as a reactor has failed and the manager
     *     ends because of that. Each call returns a new future; once {@link #isTerminated} is true, one that is completed
     */
    public CompletableFuture<Void> termination() {
        if (ended.isDone() && !termination.isDone()) {
            return ended.copy(); // it is about to be completed, which may run stages of the user's first
        }
        return termination.copy();
    }

    @Override
    public boolean isShutdown() {
        return lifecycle.isShutdown();
    }

    @Override
    public boolean isTerminated() {
        return ended.isDone();
    }

    @Override
    public boolean awaitTermination(Duration atMost) throws InterruptedException {
        try {
            ended.get(Durations.nanosOrZero(atMost), TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            throw new AssertionError("it is never completed so", e);
        }
    }

    @Override
    public boolean inManager() {
        return Thread.currentThread() instanceof ReactorThread thread && thread.manager == this;
    }

    // ---- Properties ----

    /**
     * Returns counters, gauges and histograms of all reactors.
     *
     * @return a view that reads the current values at each call
     */
    public Metrics metrics() {
        return new MetricsView(reactors);
    }

    /**
     * Returns which backend was chosen, and why.
     *
     * @return the report made when the manager was opened
     */
    public BackendReport report() {
        return reactors[0].poll.report();
    }

    /**
     * Returns where virtual threads run that serve its connections and handlers, and why.
     *
     * @return what this JVM allows
     */
    public VirtualThreadReport virtualThreads() {
        return VirtualThreadReport.probe();
    }

    /**
     * Describes what every reactor is doing, what is waiting, which alarms are next, which sources are registered, and
     * what would keep the manager from shutting down. Takes no lock that a reactor could hold, so it works even while
     * one is blocked.
     *
     * @return several lines of text
     */
    public String dump() {
        StringBuilder text = new StringBuilder(toString())
                .append('\n')
                .append(virtualThreads())
                .append('\n');
        for (Reactor reactor : reactors) {
            reactor.describe(text);
        }
        List<String> remains = remains();
        if (!remains.isEmpty()) {
            text.append(lifecycle.isShutdown() ? "shutting down waits for: " : "shutting down would wait for: ")
                    .append(String.join("; ", remains))
                    .append('\n');
        }
        return text.toString();
    }

    private List<String> remains() {
        List<String> remains = new ArrayList<>();
        if (lifecycle.refs() > 0) {
            remains.add(lifecycle.refs() + " references (shutdownRef)");
        }
        for (Reactor reactor : reactors) {
            reactor.describeRemains(remains);
        }
        return remains;
    }

    @Override
    public String toString() {
        return name + ": " + reactors.length + (reactors.length == 1 ? " reactor on " : " reactors on ")
                + reactors[0].poll.backend()
                + (isTerminated() ? ", ended" : isShutdown() ? ", shutting down" : "");
    }

    /** Collects the settings of a manager. */
    public static final class Builder {
        private final EngineSettings engine = new EngineSettings();
        private int reactors =
                Math.min(EngineSettings.MAX_REACTORS, Runtime.getRuntime().availableProcessors());
        private InstantSource wallClock = InstantSource.system();
        private String name = "millrace-engine";
        private boolean daemon;

        private Builder() {}

        /**
         * Sets how many reactors there are, each with a thread.
         *
         * @param count from 1 to 1,024; the number of cores by default
         * @return this
         */
        public Builder reactors(int count) {
            this.reactors = EngineSettings.inRange("the number of reactors", count, 1, EngineSettings.MAX_REACTORS);
            return this;
        }

        /**
         * Requires a particular backend.
         *
         * @param backend as in {@link io.millrace.poll.Poll.Builder#backend}
         * @return this
         */
        public Builder backend(String backend) {
            engine.setBackend(backend);
            return this;
        }

        /**
         * Sets the clock for deadlines.
         *
         * @param clock the system's clock by default
         * @return this
         */
        public Builder clock(Clock clock) {
            engine.setClock(clock);
            return this;
        }

        /**
         * Sets the wall clock, by which an {@link java.time.Instant} is converted to a deadline.
         *
         * @param clock the system's wall clock by default
         * @return this
         */
        public Builder wallClock(InstantSource clock) {
            this.wallClock = Objects.requireNonNull(clock, "clock");
            return this;
        }

        /**
         * Sets the resolution of alarms: how late an alarm may be because its deadline is rounded up.
         *
         * @param tick positive; 1 ms by default
         * @return this
         */
        public Builder tick(Duration tick) {
            engine.setTick(tick);
            return this;
        }

        /**
         * Sets how many events a reactor takes from the kernel at once.
         *
         * @param capacity from 1 to 1,048,576; 1,024 by default
         * @return this
         */
        public Builder eventCapacity(int capacity) {
            engine.setEventCapacity(capacity);
            return this;
        }

        /**
         * Sets how many items of each {@link Priority} a turn runs at most. This bounds how long the other priorities
         * wait.
         *
         * @param items from 1 to 1,048,576; 1,024 by default
         * @return this
         */
        public Builder budget(int items) {
            engine.setBudget(items);
            return this;
        }

        /**
         * Sets how long a reactor may look for work before it sleeps. This saves the cost of a wake-up if the next
         * event comes soon, and uses a core meanwhile. The actual time adapts itself.
         *
         * @param atMost zero by default: it sleeps at once
         * @return this
         */
        public Builder spin(Duration atMost) {
            engine.setSpin(atMost);
            return this;
        }

        /**
         * Sets when the watchdog reports an item that holds its thread, and to whom. The consumer is called once for
         * each such item, on the watchdog's thread. By default reports are logged to {@code io.millrace.watchdog}: the
         * first one at each place with its stack, and repetitions at most once a minute with a count.
         *
         * @param limit 100 ms by default
         * @param onBlocked called with each report
         * @return this
         */
        public Builder watchdog(Duration limit, Consumer<BlockedLoop> onBlocked) {
            engine.setWatchdog(limit, onBlocked);
            return this;
        }

        /**
         * Turns the watchdog and its thread off.
         *
         * @return this
         */
        public Builder withoutWatchdog() {
            engine.disableWatchdog();
            return this;
        }

        /**
         * Sets the name of the threads.
         *
         * @param name {@code millrace-engine} by default
         * @return this
         */
        public Builder name(String name) {
            this.name = Objects.requireNonNull(name, "name");
            return this;
        }

        /**
         * Sets whether the threads are daemon threads, which do not keep the JVM running.
         *
         * @param daemon false by default
         * @return this
         */
        public Builder daemon(boolean daemon) {
            this.daemon = daemon;
            return this;
        }

        /**
         * Opens the manager and starts its threads.
         *
         * @return a running manager, which the caller must close
         * @throws IllegalArgumentException if there is no backend with the given name
         * @throws IllegalStateException if that backend cannot be opened here
         */
        public Reactors open() {
            return new Reactors(this);
        }
    }
}
