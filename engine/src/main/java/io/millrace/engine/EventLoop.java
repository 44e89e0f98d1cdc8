package io.millrace.engine;

import io.millrace.engine.internal.Background;
import io.millrace.engine.internal.Deadline;
import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.internal.Threads;
import io.millrace.engine.internal.Uninterruptibly;
import io.millrace.engine.pool.ComputePool;
import io.millrace.engine.reactor.Alarm;
import io.millrace.engine.reactor.EngineSettings;
import io.millrace.engine.reactor.LoopThread;
import io.millrace.engine.reactor.MetricsView;
import io.millrace.engine.reactor.Reactor;
import io.millrace.engine.watchdog.Watchdog;
import io.millrace.poll.BackendReport;
import io.millrace.poll.Clock;
import io.millrace.poll.Interest;
import io.millrace.poll.Source;
import io.millrace.poll.Trigger;
import io.millrace.poll.internal.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Calls handlers when sources are ready, on a loop that one of your threads runs: Mill-IO's event loop.
 *
 * {@snippet :
 * try (EventLoop loop = EventLoop.open()) {
 *   loop.register(listener, 1, Interest.READABLE, (source, token, ready) -> acceptAll());
 *   loop.run(); // until stop()
 * }
 * }
 *
 * <p>Sources are registered for edges unless you say otherwise: a handler must read, write or accept until would-block.
 *
 * <p><b>What it guarantees.</b> The handler of a source is called by one thread at a time, in the order in which the
 * source became ready; {@link Dispatch} decides on which thread. If the source becomes ready again while its handler
 * runs, the handler is called again afterwards. A handler that throws does not affect anything else. {@link Priority}
 * describes the order of handlers, alarms and tasks.
 *
 * <p><b>Threads.</b> One thread at a time may call {@link #run} or {@link #runOnce}. Any thread may call everything
 * else, including handlers. With {@link Dispatch#LOOP} and several workers, {@link #run} starts a thread for each
 * further worker. As an {@link Executor}, the loop runs tasks in order.
 *
 * <p><b>Interrupts</b> do not end the loop; {@link #stop} does. On the thread that called {@link #run}, the interrupt
 * status is kept for its owner, whether it was set from outside or by a handler. On the loop's own threads it is
 * cleared.
 *
 * <h2>Portability</h2>
 * The same as {@link io.millrace.poll.Poll}.
 */
public final class EventLoop implements Executor, AutoCloseable {
    // One class, because it is the public face of one or several reactors, and what is long about it is their life:
    // run,
    // runOnce, stop and close may be called by any thread in any order, and one state under one lock decides between
    // them. Handlers are HandlerRegistration's and Dispatcher's, a turn is Reactor's; the builder is a fifth of it.

    private final String name;
    private final Clock clock;
    private final Dispatch dispatch;
    private final Dispatcher dispatcher;
    private final List<Reactor> reactors;
    private final @Nullable Watchdog watchdog;
    private final long pollTimeoutNanos;
    private final @Nullable Runnable tick;
    private final ConcurrentHashMap<Long, HandlerRegistration> registry = new ConcurrentHashMap<>();
    private final AtomicInteger next = new AtomicInteger();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final int workers;
    private @Nullable ComputePool compute;

    private enum State {
        IDLE,
        RUNNING,
        CLOSED
    }

    /** Guarded by this loop's monitor, which is never held while user code runs. */
    private State state = State.IDLE;

    /** Until when its end may wait for others; the earliest that was asked for. Guarded likewise. */
    private @Nullable Deadline deadline;

    /** Handlers that did not return before the deadline; written before {@link #ended} is completed. */
    private volatile List<String> notReturned = List.of();

    /** Completes when all handlers off the loop have returned; null until its end asks for that. Written likewise. */
    private volatile @Nullable CompletableFuture<Void> handlersEnd;

    private EventLoop(Builder settings) {
        this.workers = settings.workers;
        this.name = settings.name;
        this.clock = settings.engine.clock;
        this.dispatch = settings.dispatch;
        this.pollTimeoutNanos = settings.pollTimeoutNanos;
        this.tick = settings.tick;
        this.reactors = settings.engine.openReactors(name, dispatch == Dispatch.LOOP ? settings.workers : 1);
        boolean opened = false;
        Dispatcher threads = new Dispatcher.OnLoop();
        try {
            threads = switch (dispatch) {
                case LOOP -> threads;
                case POOL -> new Dispatcher.OnPool(name, settings.workers);
                case VIRTUAL -> new Dispatcher.OnVirtualThreads();
            };
            this.watchdog = settings.engine.watchdogOf(name, reactors);
            if (watchdog != null) {
                start(watchdog);
            }
            opened = true;
        } finally {
            if (!opened) {
                var ignored = threads.close();
                reactors.forEach(reactor -> reactor.finish(List.of()));
            }
        }
        this.dispatcher = threads;
    }

    private void start(Watchdog dog) {
        try {
            dog.start();
        } catch (OutOfMemoryError e) {
            throw Threads.tooFew(name, 0, 1, e);
        }
    }

    /**
     * Opens one with the defaults: handlers on as many threads as there are cores, on the best backend.
     *
     * @return a loop that does not run yet, the caller's to close
     */
    public static EventLoop open() {
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

    // ---- Sources ----

    /**
     * Registers a source for edges, with normal priority: the handler must read, write or accept until would-block.
     *
     * @param source what to wait for
     * @param token identifies the source in this loop
     * @param interest the kinds of readiness to report
     * @param handler called when the source is ready
     * @throws IllegalStateException if the token is taken, the source is already registered, or the loop is closed;
     *     nothing is changed
     * @throws IllegalArgumentException if this backend cannot watch the source
     */
    public void register(Source source, long token, Interest interest, EventHandler handler) {
        register(source, token, interest, Trigger.EDGE, Priority.NORMAL, handler);
    }

    /**
     * Registers a source.
     *
     * @param source what to wait for
     * @param token names it in this loop
     * @param interest what to hear of
     * @param trigger when to hear of it
     * @param priority the class in which its handler is called
     * @param handler called when it is ready
     * @throws IllegalStateException if the token is taken, or the source is registered already, or the loop is closed; nothing is changed
     * @throws IllegalArgumentException if this backend cannot watch the source
     */
    public void register(
            Source source, long token, Interest interest, Trigger trigger, Priority priority, EventHandler handler) {
        Objects.requireNonNull(handler, "handler");
        Objects.requireNonNull(priority, "priority");
        HandlerRegistration entry = new HandlerRegistration(
                this, nextReactor(), dispatcher, source, token, interest, trigger, priority, handler);
        HandlerRegistration present = registry.putIfAbsent(token, entry);
        if (present != null) {
            throw new IllegalStateException("cannot register " + source + ": token " + token + " is taken by "
                    + present.source + "; take another, or deregister that one");
        }
        boolean registered = false;
        try {
            entry.reactor.register(source, token, entry, interest, trigger);
            registered = true;
        } finally {
            if (!registered) {
                registry.remove(token, entry);
            }
        }
    }

    /**
     * Changes the interest and trigger of a source. If it is ready for the new interest, its handler is called.
     *
     * @param token the token of the source
     * @param interest the new interest
     * @param trigger the new trigger
     * @throws IllegalStateException if no source has this token; nothing is changed
     */
    public void reregister(long token, Interest interest, Trigger trigger) {
        HandlerRegistration entry = registry.get(token);
        if (entry == null) {
            throw noSuchToken("reregister", token);
        }
        entry.change(interest, trigger);
    }

    /**
     * Ends a registration; the source stays open. No call of its handler starts after this, except one that another
     * thread is just about to make.
     *
     * @param token the token of the source
     * @throws IllegalStateException if no source has this token
     */
    public void deregister(long token) {
        HandlerRegistration entry = registry.remove(token);
        if (entry == null) {
            throw noSuchToken("deregister", token);
        }
        entry.forget();
        try {
            entry.reactor.poll.deregister(entry.source);
        } catch (IllegalStateException e) {
            // The source was closed, which has deregistered it.
        }
    }

    private IllegalStateException noSuchToken(String doing, long token) {
        return new IllegalStateException(
                "cannot " + doing + " token " + token + ": " + name + " has no source with it; register one first");
    }

    private Reactor nextReactor() {
        return reactors.size() == 1
                ? reactors.getFirst()
                : reactors.get(Math.floorMod(next.getAndIncrement(), reactors.size()));
    }

    // ---- Tasks and alarms ----

    /** The reactor of the calling thread if it is one of ours, else the first. */
    private Reactor here() {
        for (Reactor reactor : reactors) {
            if (reactor.inLoop()) {
                return reactor;
            }
        }
        return reactors.getFirst();
    }

    /**
     * Returns whether the calling thread is the loop's thread, which may use what belongs to the loop without a lock.
     *
     * @return true in tasks and alarms, and with {@link Dispatch#LOOP} in handlers
     */
    public boolean inLoop() {
        return here().inLoop();
    }

    /**
     * Runs a task of normal priority on the loop, in one of its next turns. If the loop is not running, the task waits
     * until it does.
     *
     * @param task what to run
     * @throws RejectedExecutionException if the loop is closed
     */
    @Override
    public void execute(Runnable task) {
        execute(task, Priority.NORMAL);
    }

    /**
     * Runs a task on the loop, in one of its next turns.
     *
     * @param task what to run
     * @param priority its class
     * @throws RejectedExecutionException if the loop is closed
     */
    public void execute(Runnable task, Priority priority) {
        Objects.requireNonNull(priority, "priority");
        try {
            here().execute(task, priority);
        } catch (RejectedExecutionException e) {
            throw closed("run " + FailureLog.name(task), e);
        }
    }

    private RejectedExecutionException closed(String doing, RejectedExecutionException cause) {
        return new RejectedExecutionException(
                "cannot " + doing + ": " + name + " is closed; close it when nobody hands over work any more", cause);
    }

    /**
     * Calls back on the loop after a delay.
     *
     * @param delay from now
     * @param callback called with true; or with false if it is cancelled or the loop is closed first
     * @param priority its priority
     * @return a key to cancel it
     * @throws RejectedExecutionException if the loop is closed
     */
    public AlarmKey schedule(Duration delay, AlarmCallback callback, Priority priority) {
        Alarm alarm = new Alarm(
                here(),
                clock.nanoTime() + Durations.nanosOrZero(delay),
                0,
                0,
                Objects.requireNonNull(callback, "callback"),
                Objects.requireNonNull(priority, "priority"));
        try {
            alarm.reactor.schedule(alarm);
        } catch (RejectedExecutionException e) {
            throw closed("schedule " + alarm, e);
        }
        return alarm;
    }

    /**
     * Cancels an alarm: as {@link EventManager#cancel}.
     *
     * @param key of this loop
     * @return what became of it
     */
    public CancelResult cancel(AlarmKey key) {
        if (!(key instanceof Alarm alarm) || !reactors.contains(alarm.reactor)) {
            throw new IllegalArgumentException("cannot cancel " + key + ": it is not a key of " + name);
        }
        return alarm.reactor.cancel(alarm);
    }

    /**
     * Returns a future that the loop completes after a delay. Cancelling the future cancels the alarm; closing the loop
     * cancels the future.
     *
     * @param delay from now
     * @return a future
     * @throws RejectedExecutionException if the loop is closed
     */
    public CompletableFuture<@Nullable Void> after(Duration delay) {
        CompletableFuture<@Nullable Void> future = new CompletableFuture<>();
        AlarmKey key = schedule(
                delay,
                fired -> {
                    if (fired) {
                        future.complete(null);
                    } else {
                        future.completeExceptionally(new CancellationException(name + " was closed first"));
                    }
                },
                Priority.NORMAL);
        var ignored = future.whenComplete((nothing, failure) -> {
            if (failure != null) {
                cancel(key);
            }
        });
        return future;
    }

    /**
     * Returns a pool for work that takes long. It is created by the first call and closed with the loop.
     *
     * @return the loop's pool
     */
    public synchronized ComputePool compute() {
        if (state == State.CLOSED) {
            throw new RejectedExecutionException("cannot compute: " + name + " is closed");
        }
        ComputePool pool = compute;
        if (pool == null) {
            pool = ComputePool.builder()
                    .threads(workers)
                    .name(name + "-compute")
                    .open();
            compute = pool;
        }
        return pool;
    }

    // ---- Running ----

    /**
     * Runs the loop until {@link #stop} or {@link #close}. If {@code stop} was called before, it returns at once. The
     * loop can be run again afterwards.
     *
     * @throws IllegalStateException if it is already running, or closed
     */
    public void run() {
        begin();
        List<Thread> others = new ArrayList<>();
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        try {
            for (Reactor reactor : reactors.subList(1, reactors.size())) {
                others.add(startBeside(reactor, () -> runBeside(reactor, failure)));
            }
            reactors.getFirst().run(maxWaitNanos(), tick);
        } finally {
            // The others have been stopped too, unless the first one failed.
            stop();
            finishIfClosed(reactors.getFirst());
            others.forEach(Uninterruptibly::join);
            clearStop();
            finishRun();
        }
        Throwable cause = failure.get();
        if (cause != null) {
            throw new IllegalStateException(name + " has stopped: one of its loops failed", cause);
        }
    }

    private Thread startBeside(Reactor reactor, Runnable what) {
        try {
            Thread thread = new LoopThread(what, reactor.name());
            thread.start();
            return thread;
        } catch (OutOfMemoryError e) {
            throw Threads.tooFew("run", name, reactors.indexOf(reactor), reactors.size(), e);
        }
    }

    /** A loop that fails stops all of them: its sources would be served no more, and nobody told. */
    private void runBeside(Reactor reactor, AtomicReference<@Nullable Throwable> failure) {
        try {
            reactor.run(maxWaitNanos(), null);
            finishIfClosed(reactor);
        } catch (Throwable e) {
            failure.compareAndSet(null, e);
            stop();
        }
    }

    /** The timeout bounds the wait only for the sake of the tick: idle is silent. */
    private long maxWaitNanos() {
        return tick == null ? Reactor.FOREVER : pollTimeoutNanos;
    }

    /**
     * Performs one turn, for a thread that drives the loop itself.
     *
     * @param timeout the longest time to wait if there is nothing to do
     * @return how many items ran
     * @throws IllegalStateException if the loop is already running or closed, or has several reactors
     */
    public int runOnce(Duration timeout) {
        if (reactors.size() > 1) {
            throw new IllegalStateException("cannot drive " + name + " turn by turn: it has " + reactors.size()
                    + " loops; take one worker, or another dispatch");
        }
        begin();
        try {
            return reactors.getFirst().runOnce(Durations.nanosOrZero(timeout), tick);
        } finally {
            finishRun();
        }
    }

    private synchronized void begin() {
        if (state != State.IDLE) {
            throw new IllegalStateException(
                    "cannot run " + name + ": it " + (state == State.CLOSED ? "is closed" : "is already running"));
        }
        state = State.RUNNING;
    }

    private void finishRun() {
        boolean end;
        synchronized (this) {
            end = state == State.CLOSED;
            if (!end) {
                state = State.IDLE;
            }
        }
        if (end) {
            finish();
        }
    }

    /**
     * Makes {@link #run} return after its current turn. If {@code run} has not started yet, it returns at once. Any
     * thread may call this.
     */
    public synchronized void stop() {
        reactors.forEach(Reactor::stop);
    }

    private synchronized void clearStop() {
        reactors.forEach(Reactor::clearStop);
    }

    /**
     * Ends the loop: handlers that are running return, queued tasks run, pending alarms get false, sources are
     * deregistered but stay open, and then the pools end. Waits for this until the deadline plus at most a quarter of a
     * second; whatever does not return by then ends when it does. Called from a handler, task or alarm of this loop or
     * from a task of its pool, it returns at once, and the rest happens in the background. An interrupt does not cut
     * the wait short; the interrupt status is restored for the caller. It may be called any number of times; each call
     * returns by its own deadline.
     *
     * @param atMost how long to wait for handlers and pools
     * @return empty if it has ended in time; otherwise a human-readable list of what has not
     */
    public List<String> shutdown(Duration atMost) {
        Deadline mine = Deadline.after(clock, atMost);
        boolean finish;
        synchronized (this) {
            finish = state == State.IDLE;
            state = State.CLOSED;
            if (deadline == null || mine.isBefore(deadline)) {
                deadline = mine;
            }
        }
        reactors.forEach(Reactor::end);
        boolean inside = isInside();
        if (finish) {
            // Not here: the last turn runs the user's tasks and alarms, which may not return.
            Background.run(name + "-shutdown", this::finish);
        }
        if (!inside) {
            mine.andALittle().await(ended);
        }
        return notEnded();
    }

    /** What has not ended by now; what did not in time and has since is not named any more. */
    private List<String> notEnded() {
        // What is still running, and what the end has found already: a handler is in one of the two.
        Set<String> left = new LinkedHashSet<>(ended.isDone() ? List.of() : remains());
        CompletableFuture<Void> handlers = handlersEnd;
        if (handlers != null && !handlers.isDone()) {
            left.addAll(notReturned);
        }
        ComputePool pool = poolOrNull();
        if (ended.isDone() && pool != null) {
            left.addAll(pool.shutdown(Duration.ZERO));
        }
        return List.copyOf(left);
    }

    /** The same as {@link #shutdown} with ten seconds; whatever has not ended by then is logged. Idempotent. */
    @Override
    public void close() {
        List<String> remains = shutdown(Deadline.OF_CLOSE);
        if (!remains.isEmpty() && !isInside()) {
            FailureLog.warn("closed " + name + ", which has not ended in time: " + String.join("; ", remains));
        }
    }

    /** Whether the calling thread is in something that its end waits for. */
    private boolean isInside() {
        ComputePool pool = poolOrNull();
        return inLoop() || HandlerRegistration.isHandling(this) || (pool != null && pool.inPool());
    }

    private synchronized @Nullable ComputePool poolOrNull() {
        return compute;
    }

    /**
     * By the thread of a reactor that has stopped: its alarms need not wait until the others have stopped too, which a handler may keep from it. Where handlers run elsewhere, they are waited for first; but then there
     * is one reactor.
     */
    private void finishIfClosed(Reactor reactor) {
        boolean closed;
        synchronized (this) {
            closed = state == State.CLOSED;
        }
        if (closed && reactors.size() > 1) {
            finish(reactor);
        }
    }

    private void finish(Reactor reactor) {
        if (!reactor.hasFinished()) {
            registry.values().stream()
                    .filter(entry -> entry.reactor.equals(reactor))
                    .forEach(HandlerRegistration::forget);
            reactor.finish(List.of());
        }
    }

    /** By the thread that ran it, or by one of its own if nobody did. */
    private void finish() {
        Deadline until;
        synchronized (this) {
            until = Objects.requireNonNull(deadline);
        }
        try {
            CompletableFuture<Void> handlers = dispatcher.close();
            if (!until.await(handlers)) {
                notReturned = remains(); // before the registry forgets them
            }
            handlersEnd = handlers;
            reactors.forEach(this::finish);
            registry.clear();
            if (watchdog != null) {
                watchdog.stop();
            }
            ComputePool pool = poolOrNull();
            if (pool != null) {
                pool.shutdown(Duration.ofNanos(until.leftNanos()));
            }
        } catch (Throwable e) {
            FailureLog.report("the end of " + name, e);
        } finally {
            ended.complete(null);
        }
    }

    // ---- Looking at it ----

    /**
     * Returns counters, gauges and histograms of the loop.
     *
     * @return a view that reads the current values at each call
     */
    public Metrics metrics() {
        return new MetricsView(reactors.toArray(Reactor[]::new));
    }

    /**
     * Returns which backend was chosen, and why.
     *
     * @return the report made when the loop was opened
     */
    public BackendReport report() {
        return reactors.getFirst().poll.report();
    }

    /**
     * Describes what the loop is doing, what is waiting, which alarms are next, which sources are registered, and what
     * would keep it from ending. Takes no lock that the loop could hold, so it works even while the loop is blocked.
     *
     * @return several lines of text
     */
    public String dump() {
        StringBuilder text = new StringBuilder(toString()).append('\n');
        for (Reactor reactor : reactors) {
            reactor.describe(text);
        }
        List<String> remains = remains();
        if (!remains.isEmpty()) {
            text.append("closing would wait for: ")
                    .append(String.join("; ", remains))
                    .append('\n');
        }
        return text.toString();
    }

    private List<String> remains() {
        List<String> remains = new ArrayList<>();
        for (Reactor reactor : reactors) {
            reactor.describeRemains(remains);
        }
        registry.values().stream()
                .filter(HandlerRegistration::isInFlight)
                .forEach(entry -> remains.add("in flight: " + entry));
        return remains;
    }

    @Override
    public String toString() {
        return name + ": " + dispatch + ", " + reactors.size() + (reactors.size() == 1 ? " loop on " : " loops on ")
                + reactors.getFirst().poll.backend() + ", " + registry.size() + " sources";
    }

    /** Settings of a loop that has yet to be opened. */
    public static final class Builder {
        private final EngineSettings engine = new EngineSettings();
        private int workers = Runtime.getRuntime().availableProcessors();
        private Dispatch dispatch = Dispatch.POOL;
        private long pollTimeoutNanos = 150_000_000;
        private @Nullable Runnable tick;
        private String name = "millrace-loop";

        private Builder() {}

        /**
         * How many threads call handlers; with {@link Dispatch#LOOP}, how many loops there are.
         *
         * @param count from 1 to 1,024; the number of cores by default
         * @return this
         */
        public Builder workers(int count) {
            this.workers = EngineSettings.inRange("the number of workers", count, 1, EngineSettings.MAX_REACTORS);
            return this;
        }

        /**
         * Sets where handlers are called.
         *
         * @param mode {@link Dispatch#POOL} by default
         * @return this
         */
        public Builder dispatch(Dispatch mode) {
            this.dispatch = Objects.requireNonNull(mode, "mode");
            return this;
        }

        /**
         * How many events the loop takes from the kernel at once.
         *
         * @param capacity from 1 to 1,048,576; 1,024 by default
         * @return this
         */
        public Builder eventCapacity(int capacity) {
            engine.eventCapacity(capacity);
            return this;
        }

        /**
         * Something to be run on the loop after each turn, and at least once every {@link #pollTimeout}.
         *
         * @param each none by default
         * @return this
         */
        public Builder tick(Runnable each) {
            this.tick = Objects.requireNonNull(each, "each");
            return this;
        }

        /**
         * How long a loop with a tick waits at most. Without a tick it waits until there is something to do.
         *
         * @param timeout positive; 150 ms by default
         * @return this
         */
        public Builder pollTimeout(Duration timeout) {
            this.pollTimeoutNanos = Durations.positiveNanos(timeout, "the poll timeout");
            return this;
        }

        /**
         * Requires a particular backend.
         *
         * @param backend as in {@link io.millrace.poll.Poll.Builder#backend}
         * @return this
         */
        public Builder backend(String backend) {
            engine.backend(backend);
            return this;
        }

        /**
         * The clock of its alarms.
         *
         * @param clock the system's by default
         * @return this
         */
        public Builder clock(Clock clock) {
            engine.clock(clock);
            return this;
        }

        /**
         * How many items of each {@link Priority} a turn runs at most.
         *
         * @param items from 1 to 1,048,576; 1,024 by default
         * @return this
         */
        public Builder budget(int items) {
            engine.budget(items);
            return this;
        }

        /**
         * How long a loop may look for work before it sleeps: as {@link Reactors.Builder#spin}.
         *
         * @param atMost 0 by default: it sleeps at once
         * @return this
         */
        public Builder spin(Duration atMost) {
            engine.spin(atMost);
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
            engine.watchdog(limit, onBlocked);
            return this;
        }

        /**
         * Turns the watchdog and its thread off.
         *
         * @return this
         */
        public Builder withoutWatchdog() {
            engine.noWatchdog();
            return this;
        }

        /**
         * What it and its threads are called.
         *
         * @param name {@code millrace-loop} by default
         * @return this
         */
        public Builder name(String name) {
            this.name = Objects.requireNonNull(name, "name");
            return this;
        }

        /**
         * Opens it.
         *
         * @return a loop that does not run yet, the caller's to close
         * @throws IllegalArgumentException if the backend that was asked for does not exist
         * @throws IllegalStateException if it cannot open here
         */
        public EventLoop open() {
            return new EventLoop(this);
        }
    }
}
