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
import io.millrace.engine.transport.ReactorServerLoop;
import io.millrace.engine.watchdog.Watchdog;
import io.millrace.poll.BackendReport;
import io.millrace.poll.Clock;
import io.millrace.poll.Interest;
import io.millrace.poll.Source;
import io.millrace.poll.Trigger;
import io.millrace.poll.internal.Durations;
import io.millrace.poll.internal.PollAccess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Calls handlers when sources are ready, on a loop that one of your threads runs: Mill-IO's event loop.
 *
 * {@snippet :
 * try (EventLoop loop = EventLoop.open()) {
 *   loop.register(listener, 1, Interest.READABLE, (on, token, ready) -> acceptAll());
 *   loop.run(); // until stop()
 * }
 * }
 *
 * <p>Sources are registered for edges unless you say otherwise: a handler must read, write or accept until would-block.
 * If it throws before that, what it left behind is not lost: the source is reported again after a millisecond, and if
 * the handler throws again and again after twice as long each time, up to a second.
 *
 * <p>For timeouts use {@link #schedule}. A {@link io.millrace.poll.Timer} belongs to the thread that polls, so it can be
 * registered only with {@link Dispatch#LOOP}, and only its handler may use it while the loop runs.
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
 * <p><b>Servers.</b> A {@code TcpServer} or {@code TcpClient} can run on the loop beside your sources: see {@code loop} of their builders.
 *
 * <p><b>Interrupts</b> do not end the loop; {@link #stop} does. On the thread that called {@link #run}, the interrupt
 * status is kept for its owner, whether it was set from outside or by a handler. On the loop's own threads it is
 * cleared.
 *
 * <h2>Portability</h2>
 * The same as {@link io.millrace.poll.Poll}.
 */
public final class EventLoop implements Executor, AutoCloseable {
    // One class, because it is the public face of one or several reactors, and most of it is their life cycle: run,
    // runOnce, stop and close may be called by any thread in any order, and one state under one lock decides between
    // them. HandlerRegistration and HandlerDispatcher deal with handlers, and Reactor with turns; the builder is a
    // fifth of it.

    static {
        LoopAccess.handOver();
    }

    private final String name;
    private final Clock clock;
    private final Dispatch dispatch;
    private final HandlerDispatcher dispatcher;
    private final List<Reactor> reactors;
    private final @Nullable Watchdog watchdog;
    private final long pollTimeoutNanos;
    private final @Nullable Runnable tick;
    private final ConcurrentHashMap<Long, HandlerRegistration> registry = new ConcurrentHashMap<>();
    private final AtomicInteger next = new AtomicInteger();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final int workers;
    private @Nullable ComputePool compute;

    /** Created for the first server or client. Guarded by this loop's monitor. */
    private List<ReactorServerLoop> serverLoops = List.of();

    /** The id of the thread that last ran the loop, or 0. Guarded likewise. */
    private long lastRunner;

    /** How long a thread that runs several reactors alone pauses when none of them has anything to do. */
    private static final long PAUSE_NANOS = 1_000_000;

    private enum State {
        IDLE,
        RUNNING,
        CLOSED
    }

    /** Guarded by this loop's monitor, which is never held while user code runs. */
    private State state = State.IDLE;

    /** Until when its end may wait; the earliest deadline that was given. Guarded likewise. */
    private @Nullable Deadline deadline;

    /** Handlers that did not return before the deadline; written before {@link #ended} is completed. */
    private volatile List<HandlerRegistration> notReturned = List.of();

    /** Completes when all handlers off the loop have returned; null until the end asks for it. Written likewise. */
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
        HandlerDispatcher threads = new HandlerDispatcher.OnLoop();
        try {
            threads = switch (dispatch) {
                case LOOP -> threads;
                case POOL -> new HandlerDispatcher.OnPool(name, settings.workers);
                case VIRTUAL -> new HandlerDispatcher.OnVirtualThreads(settings.loopThreads);
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
     * Opens a loop with the defaults: one handler thread per core, on the best backend.
     *
     * @return a loop that is not running yet, which the caller must close
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
     * @throws IllegalArgumentException if this backend cannot watch the source, or it is a {@link
     *     io.millrace.poll.Timer} and the loop's dispatch is not {@link Dispatch#LOOP}
     */
    public void register(Source source, long token, Interest interest, EventHandler handler) {
        register(source, token, interest, Trigger.EDGE, Priority.NORMAL, handler);
    }

    /**
     * Registers a source.
     *
     * @param source what to wait for
     * @param token identifies the source in this loop
     * @param interest the kinds of readiness to report
     * @param trigger when to report them
     * @param priority the priority of its handler
     * @param handler called when the source is ready
     * @throws IllegalStateException if the token is taken, the source is already registered, or the loop is closed;
     *     nothing is changed
     * @throws IllegalArgumentException if this backend cannot watch the source, or it is a {@link
     *     io.millrace.poll.Timer} and the loop's dispatch is not {@link Dispatch#LOOP}
     */
    public void register(
            Source source, long token, Interest interest, Trigger trigger, Priority priority, EventHandler handler) {
        Objects.requireNonNull(handler, "handler");
        Objects.requireNonNull(priority, "priority");
        if (dispatch != Dispatch.LOOP && PollAccess.get().isTimer(source)) {
            throw new IllegalArgumentException("cannot register " + source + " with token " + token
                    + ": a timer is for the polling thread only, and handlers of " + name
                    + " run elsewhere (" + dispatch + "); use schedule(...), or Dispatch.LOOP");
        }
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
            // The source was closed, which deregistered it.
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

    /** Returns the reactor of the calling thread if it is one of ours, else the first. */
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
     * @param priority its priority
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
     * Calls back on the loop after a delay, with normal priority.
     *
     * @param delay from now
     * @param callback called with true; or with false if it is cancelled or the loop is closed first
     * @return a key to cancel it
     * @throws RejectedExecutionException if the loop is closed
     */
    public AlarmKey schedule(Duration delay, AlarmCallback callback) {
        return schedule(delay, callback, Priority.NORMAL);
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
        return schedule(here(), Durations.nanosOrZero(delay), 0, callback, priority);
    }

    /**
     * Calls back on the loop repeatedly, at a fixed rate: as {@link EventManager#scheduleEvery}.
     *
     * @param first the delay from now to the first time
     * @param period the time between two calls, positive
     * @param callback called with true each time; and with false once at the end, if it is cancelled while it is not
     *     running or the loop is closed
     * @param priority its priority
     * @return a key to cancel it
     * @throws IllegalArgumentException if the period is not positive
     * @throws RejectedExecutionException if the loop is closed
     */
    public AlarmKey scheduleEvery(Duration first, Duration period, AlarmCallback callback, Priority priority) {
        long periodNanos = Durations.positiveNanos(period, "a period");
        return schedule(here(), Durations.nanosOrZero(first), periodNanos, callback, priority);
    }

    /** On one of its reactors. */
    AlarmKey schedule(Reactor on, long delayNanos, long periodNanos, AlarmCallback callback, Priority priority) {
        Alarm alarm = new Alarm(
                on,
                clock.nanoTime() + delayNanos,
                0,
                periodNanos,
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
     * Cancels an alarm: see {@link EventManager#cancel}.
     *
     * @param key a key of this loop
     * @return what became of it
     */
    public CancelResult cancel(AlarmKey key) {
        if (!(key instanceof Alarm alarm) || !reactors.contains(alarm.reactor)) {
            throw new IllegalArgumentException("cannot cancel " + key + ": it is not a key of " + name);
        }
        return alarm.reactor.cancel(alarm);
    }

    /**
     * Returns a future that the loop completes after a delay, on its thread. Cancelling the future cancels the alarm;
     * closing the loop cancels the future. To keep the timeouts of a set of futures on this loop, build the set with
     * {@code alarms(Delays.of(loop::after))}.
     *
     * @param delay from now
     * @return a future
     * @throws RejectedExecutionException if the loop is closed
     */
    public CompletableFuture<@Nullable Void> after(Duration delay) {
        return AlarmFuture.of(name, callback -> schedule(delay, callback, Priority.NORMAL), this::cancel);
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
            // The others have been stopped, too, unless the first one failed.
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

    /**
     * If one loop fails, all are stopped; otherwise its sources would no longer be served, and nothing would report it.
     */
    private void runBeside(Reactor reactor, AtomicReference<@Nullable Throwable> failure) {
        try {
            reactor.run(maxWaitNanos(), null);
            finishIfClosed(reactor);
        } catch (Throwable e) {
            failure.compareAndSet(null, e);
            stop();
        }
    }

    /** The timeout bounds the wait only if there is a tick; an idle loop is silent. */
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
        lastRunner = Thread.currentThread().threadId();
    }

    /**
     * Runs the loop on the calling thread until a future is done or the deadline is reached, if this thread was the
     * last to run the loop and none is running it now: then no other thread is going to. Otherwise does nothing.
     */
    void runFor(CompletableFuture<?> done, Deadline until) {
        synchronized (this) {
            if (state != State.IDLE || lastRunner != Thread.currentThread().threadId()) {
                return;
            }
            state = State.RUNNING;
        }
        // Only for this wait: the future must not refer to the loop afterwards.
        CompletableFuture<Void> enough = new CompletableFuture<>();
        try {
            var ignored = CompletableFuture.anyOf(done, enough)
                    .whenComplete((result, failure) -> reactors.getFirst().wake());
            while (!done.isDone() && until.leftNanos() > 0 && !isClosed()) {
                takeTurns(until.leftNanos());
            }
        } finally {
            finishRun();
            enough.complete(null);
        }
    }

    /** Makes a turn of each reactor. If there are several, none must sleep while another has something to do. */
    private void takeTurns(long maxWaitNanos) {
        if (reactors.size() == 1) {
            reactors.getFirst().runOnce(maxWaitNanos, tick);
            return;
        }
        int ran = 0;
        for (Reactor reactor : reactors) {
            ran += reactor.runOnce(0, reactor.equals(reactors.getFirst()) ? tick : null);
        }
        if (ran == 0) {
            LockSupport.parkNanos(this, PAUSE_NANOS);
        }
    }

    private synchronized boolean isClosed() {
        return state == State.CLOSED;
    }

    // ---- Servers ----

    /** Returns its reactors as servers see them. */
    synchronized List<ReactorServerLoop> serverLoops() {
        if (serverLoops.isEmpty()) {
            serverLoops = reactors.stream()
                    .map(reactor -> new ReactorServerLoop(reactor, clock))
                    .toList();
        }
        return serverLoops;
    }

    private synchronized boolean hasServed() {
        return !serverLoops.isEmpty();
    }

    Clock clock() {
        return clock;
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
     * deregistered but stay open, and then the pools end. Connections of servers and clients that run on this loop are
     * closed, and their handlers are called; at the deadline, connections that a handler keeps from ending are
     * disconnected from their peers. Waits for this until the deadline plus at most a quarter of a second; whatever
     * does not return by then ends when it does. Called from a handler, task or alarm of this loop or from a task of
     * its pool, it returns at once, and the rest happens in the background. An interrupt does not cut the wait short;
     * the interrupt status is restored for the caller. It may be called any number of times; each call returns by its
     * own deadline.
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
            // Not on this thread: the last turn runs the user's tasks and alarms, which may not return.
            Background.run(name + "-shutdown", this::finish);
        }
        if (!inside) {
            endBy(mine);
        } else if (hasServed() && !ended.isDone()) {
            Background.run(name + "-shutdown", () -> endBy(mine));
        }
        return notEnded();
    }

    /** Disconnects connections that a handler keeps from ending. */
    private void endBy(Deadline until) {
        Deadline last = until.andALittle();
        if (!last.await(ended)) {
            reactors.stream().filter(reactor -> !reactor.hasFinished()).forEach(Reactor::cutOffSinks);
            return;
        }
        CompletableFuture<Void> handlers = handlersEnd;
        if (handlers != null) {
            last.await(handlers); // an earlier deadline may have ended it without them
        }
    }

    /** Returns what has not ended by now, leaving out what has ended after the deadline. */
    private List<String> notEnded() {
        // What is still running, and what the end has already found: a handler is in one of the two.
        Set<String> left = new LinkedHashSet<>(ended.isDone() ? List.of() : remains());
        CompletableFuture<Void> handlers = handlersEnd;
        if (handlers != null && !handlers.isDone()) {
            notReturned.stream().filter(HandlerRegistration::isInFlight).forEach(entry -> left.add(inFlight(entry)));
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

    /** Returns whether the calling thread runs something that the end waits for. */
    private boolean isInside() {
        ComputePool pool = poolOrNull();
        return inLoop() || HandlerRegistration.isHandling(this) || (pool != null && pool.inPool());
    }

    private synchronized @Nullable ComputePool poolOrNull() {
        return compute;
    }

    /**
     * Runs the last turn of a reactor that has stopped, on its thread: its alarms need not wait until the other
     * reactors have stopped, which a handler may prevent. If handlers run elsewhere, they have to return first; but
     * then there is only one reactor.
     */
    private void finishIfClosed(Reactor reactor) {
        if (isClosed() && reactors.size() > 1) {
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

    /** Called by the thread that ran the loop, or by a new one if none did. */
    private void finish() {
        Deadline until;
        synchronized (this) {
            until = Objects.requireNonNull(deadline);
        }
        try {
            CompletableFuture<Void> handlers = dispatcher.close();
            if (!until.await(handlers)) {
                // Before the registrations are removed.
                notReturned = registry.values().stream()
                        .filter(HandlerRegistration::isInFlight)
                        .toList();
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

    // ---- Properties ----

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
     * Returns where virtual threads run that serve its connections and handlers, and why.
     *
     * @return what this JVM allows
     */
    public VirtualThreadReport virtualThreads() {
        return VirtualThreadReport.probe();
    }

    /**
     * Describes what the loop is doing, what is waiting, which alarms are next, which sources are registered, and what
     * would keep it from ending. Takes no lock that the loop could hold, so it works even while the loop is blocked.
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
                .forEach(entry -> remains.add(inFlight(entry)));
        return remains;
    }

    private static String inFlight(HandlerRegistration entry) {
        return "in flight: " + entry;
    }

    @Override
    public String toString() {
        return name + ": " + dispatch + ", " + reactors.size() + (reactors.size() == 1 ? " loop on " : " loops on ")
                + reactors.getFirst().poll.backend() + ", " + registry.size() + " sources";
    }

    /** Collects the settings of a loop. */
    public static final class Builder {
        private final EngineSettings engine = new EngineSettings();
        private int workers = Runtime.getRuntime().availableProcessors();
        private Dispatch dispatch = Dispatch.POOL;
        private boolean loopThreads = true;
        private long pollTimeoutNanos = 150_000_000;
        private @Nullable Runnable tick;
        private String name = "millrace-loop";

        private Builder() {}

        /**
         * Sets how many threads call handlers; with {@link Dispatch#LOOP}, how many loops there are.
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
         * Sets whether the virtual threads of {@link Dispatch#VIRTUAL} run on the loop's own thread, where the JVM allows
         * it: see {@link VirtualThreadReport}.
         *
         * @param onLoops true by default; false keeps them on the JDK's scheduler, for handlers that read files or call
         *     native code without {@link OffLoop}
         * @return this
         */
        public Builder loopThreads(boolean onLoops) {
            this.loopThreads = onLoops;
            return this;
        }

        /**
         * Sets how many events the loop takes from the kernel at once.
         *
         * @param capacity from 1 to 1,048,576; 1,024 by default
         * @return this
         */
        public Builder eventCapacity(int capacity) {
            engine.setEventCapacity(capacity);
            return this;
        }

        /**
         * Sets a task that runs on the loop after each turn, and at least once every {@link #pollTimeout}.
         *
         * @param each none by default
         * @return this
         */
        public Builder tick(Runnable each) {
            this.tick = Objects.requireNonNull(each, "each");
            return this;
        }

        /**
         * Sets how long a loop with a tick waits at most. Without a tick it waits until there is something to do.
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
            engine.setBackend(backend);
            return this;
        }

        /**
         * Sets the clock for alarms.
         *
         * @param clock the system's clock by default
         * @return this
         */
        public Builder clock(Clock clock) {
            engine.setClock(clock);
            return this;
        }

        /**
         * Sets how many items of each {@link Priority} a turn runs at most.
         *
         * @param items from 1 to 1,048,576; 1,024 by default
         * @return this
         */
        public Builder budget(int items) {
            engine.setBudget(items);
            return this;
        }

        /**
         * Sets how long a loop may look for work before it sleeps: see {@link Reactors.Builder#spin}.
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
         * Sets the name of the loop and its threads.
         *
         * @param name {@code millrace-loop} by default
         * @return this
         */
        public Builder name(String name) {
            this.name = Objects.requireNonNull(name, "name");
            return this;
        }

        /**
         * Opens the loop.
         *
         * @return a loop that is not running yet, which the caller must close
         * @throws IllegalArgumentException if there is no backend with the given name
         * @throws IllegalStateException if that backend cannot be opened here
         */
        public EventLoop open() {
            return new EventLoop(this);
        }
    }
}
