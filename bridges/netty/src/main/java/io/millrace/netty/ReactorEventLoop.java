package io.millrace.netty;

import io.millrace.engine.AlarmCallback;
import io.millrace.engine.AlarmKey;
import io.millrace.engine.Reactors;
import io.millrace.engine.transport.ReactorServerLoop;
import io.millrace.engine.transport.SourceWatch;
import io.millrace.engine.transport.WatchSink;
import io.millrace.poll.Interest;
import io.millrace.poll.Registration;
import io.millrace.sys.Bits;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.AbstractScheduledEventExecutor;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.FastThreadLocal;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.Promise;
import io.netty.util.concurrent.ScheduledFuture;
import io.netty.util.concurrent.Ticker;
import io.netty.util.internal.ThreadExecutorMap;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A Netty event loop that is a reactor: its thread is the reactor's, its tasks are items of the reactor's run queue, its
 * timers share one alarm of the reactor's wheel, and its sockets are registered with the reactor's poll.
 *
 * <p><b>Why not Netty's {@code ManualIoEventLoop}.</b> It has a task queue of its own, which its driver has to drain. A
 * task submitted on the loop's own thread, but outside the drain (from a callback of a {@code TcpServer}, for example),
 * wakes nobody and waits until something else does (netty#15922); and it ends by sleeping on the loop's thread, 100 ms
 * at a time. Here there is no second queue, so there is nothing to drain, to miss or to starve.
 *
 * <p><b>Ending.</b> {@link #shutdownGracefully} closes the channels, waits until no task has come for the quiet period,
 * by an alarm and not by sleeping, and refuses tasks from then on; the reactor goes on. If the reactor ends first, its
 * last turn closes the channels, runs what that brings about, and ends this loop.
 */
final class ReactorEventLoop extends AbstractScheduledEventExecutor implements IoEventLoop {
    private static final InternalLogger LOG = InternalLoggerFactory.getInstance(ReactorEventLoop.class);

    private enum State {
        RUNNING,
        /** Closes its channels, and still takes tasks. */
        ENDING,
        /** Takes no more tasks. */
        CLOSED,
        ENDED
    }

    /** The loops of all groups on this thread, the oldest first. What Netty keeps for the thread is theirs together. */
    private static final FastThreadLocal<Deque<ReactorEventLoop>> ON_THREAD = new FastThreadLocal<>() {
        @Override
        protected Deque<ReactorEventLoop> initialValue() {
            return new ArrayDeque<>();
        }
    };

    /**
     * The loops of all groups on a manager. Its termination ends them; it refers to one set for all, because what it
     * tells it keeps for as long as it runs, and groups may come and go.
     */
    private static final ConcurrentMap<Reactors, Set<ReactorEventLoop>> LOOPS = new ConcurrentHashMap<>();

    /** How often it looks whether a channel that would not close at once has closed. */
    private static final long STRAGGLERS_NANOS = 1_000_000;

    private final ReactorServerLoop loop;
    private final Ticker ticker;
    private final LoopMemory memory = new LoopMemory();
    private final Set<ReactorRegistration> registrations = ConcurrentHashMap.newKeySet();
    private final AtomicReference<State> state = new AtomicReference<>(State.RUNNING);
    private final Promise<Void> termination = new DefaultPromise<>(GlobalEventExecutor.INSTANCE);
    /** The loops on the same manager, of which this is one until it has ended. */
    private final Set<ReactorEventLoop> neighbours;

    /** The reactor's thread, once this loop has run on it. */
    private volatile @Nullable Thread thread;

    /** Makes the reactor's last turn find this loop even if no channel is registered. */
    private final Registration presence = new Registration();

    private @Nullable SourceWatch presenceWatch;

    // The one alarm for the timers; on the loop.
    private @Nullable AlarmKey alarm;
    private long alarmDeadline;
    private final Timers timers = new Timers();

    // While it ends.
    private volatile long quietNanos;
    private volatile long timeoutNanos;
    private volatile long lastTask;
    private long endBegan;

    private ReactorEventLoop(
            IoEventLoopGroup parent, Reactors reactors, ReactorServerLoop loop, Set<ReactorEventLoop> neighbours) {
        super(parent);
        this.loop = loop;
        this.ticker = new ReactorTicker(reactors.clock());
        this.neighbours = neighbours;
    }

    static ReactorEventLoop start(IoEventLoopGroup parent, Reactors reactors, ReactorServerLoop on) {
        Set<ReactorEventLoop> neighbours = loopsOn(reactors);
        ReactorEventLoop started = new ReactorEventLoop(parent, reactors, on, neighbours);
        neighbours.add(started);
        if (!on.tryExecute(started::begin)) {
            neighbours.remove(started);
            throw new RejectedExecutionException("cannot run Netty on " + reactors + ": it has shut down");
        }
        return started;
    }

    /** Returns those that have not ended. What the manager's last turns have not ended, its termination ends. */
    private static Set<ReactorEventLoop> loopsOn(Reactors reactors) {
        Set<ReactorEventLoop> known = LOOPS.get(reactors);
        if (known != null) {
            return known;
        }
        Set<ReactorEventLoop> made = ConcurrentHashMap.newKeySet();
        Set<ReactorEventLoop> present = LOOPS.putIfAbsent(reactors, made);
        if (present != null) {
            return present;
        }
        var _ = reactors.termination().whenComplete((nothing, failure) -> {
            LOOPS.remove(reactors);
            made.forEach(ReactorEventLoop::finish);
        });
        return made;
    }

    private void begin() {
        thread = Thread.currentThread();
        ON_THREAD.get().add(this);
        // Netty's allocators give a cache to threads that have an executor.
        ThreadExecutorMap.setCurrentExecutor(ON_THREAD.get().getFirst());
        presenceWatch = loop.watch(() -> presence, new Presence());
        presenceWatch.change(Interest.READABLE);
    }

    // ---- Where it runs ----

    @Override
    public boolean inEventLoop() {
        return loop.inLoop();
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // threads are compared by identity
    public boolean inEventLoop(Thread which) {
        return which == Thread.currentThread() ? loop.inLoop() : which == thread;
    }

    @Override
    public IoEventLoopGroup parent() {
        return (IoEventLoopGroup) super.parent();
    }

    @Override
    public IoEventLoop next() {
        return this;
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> type) {
        return SocketIoHandle.class.isAssignableFrom(type);
    }

    @Override
    public boolean isIoType(Class<? extends IoHandler> type) {
        return type == MillraceIoHandler.class;
    }

    // ---- Tasks ----

    @Override
    public void execute(Runnable task) {
        Objects.requireNonNull(task, "task");
        State now = state.get();
        if (now != State.RUNNING) {
            if (now != State.ENDING) {
                throw rejected();
            }
            lastTask = ticker.nanoTime();
        }
        if (!loop.tryExecute(task)) {
            throw rejected();
        }
    }

    private static RejectedExecutionException rejected() {
        return new RejectedExecutionException("event executor terminated");
    }

    // ---- Timers ----

    @Override
    public Ticker ticker() {
        return ticker;
    }

    /** Netty's base class puts a timer of another thread into its queue by {@link #lazyExecute}. */
    @Override
    protected boolean beforeScheduledTaskSubmitted(long deadlineNanos) {
        return false;
    }

    @Override
    protected boolean afterScheduledTaskSubmitted(long deadlineNanos) {
        return false;
    }

    @Override
    public void lazyExecute(Runnable task) {
        execute(new Submitted(task));
    }

    /** A timer of another thread on its way into the queue; runs at once if its time has come meanwhile. */
    private final class Submitted implements Runnable {
        private final Runnable timer;

        Submitted(Runnable timer) {
            this.timer = timer;
        }

        @Override
        public void run() {
            timer.run();
            arm();
        }

        /** For the watchdog. */
        @Override
        public String toString() {
            return "Netty's timer " + timer;
        }
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
        requireRunning();
        return armed(super.schedule(command, delay, unit));
    }

    @Override
    public <V> ScheduledFuture<V> schedule(Callable<V> callable, long delay, TimeUnit unit) {
        requireRunning();
        return armed(super.schedule(callable, delay, unit));
    }

    @Override
    public ScheduledFuture<?> scheduleAtFixedRate(Runnable command, long initialDelay, long period, TimeUnit unit) {
        requireRunning();
        return armed(super.scheduleAtFixedRate(command, initialDelay, period, unit));
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable command, long initialDelay, long delay, TimeUnit unit) {
        requireRunning();
        return armed(super.scheduleWithFixedDelay(command, initialDelay, delay, unit));
    }

    /** The reactor goes on, so a timer that is set on its thread after the end of this loop would fire. */
    private void requireRunning() {
        if (isShutdown()) {
            throw rejected();
        }
    }

    private <T> T armed(T timer) {
        if (inEventLoop()) {
            arm();
        }
        return timer;
    }

    /** Makes the alarm go off no later than the first timer. If that one was cancelled, it goes off in vain once. */
    private void arm() {
        long first = nextScheduledTaskDeadlineNanos();
        if (first == -1 || (alarm != null && alarmDeadline - first <= 0)) {
            return;
        }
        AlarmKey before = alarm;
        if (before != null) {
            alarm = null;
            loop.cancel(before);
        }
        alarmDeadline = first;
        try {
            alarm = loop.schedule(Math.max(0, first - ticker.nanoTime()), timers);
        } catch (RejectedExecutionException e) {
            // The reactor is ending, and no timer fires any more.
        }
    }

    /** Runs the timers that are due. */
    private final class Timers implements AlarmCallback {
        private volatile @Nullable Runnable current;

        @Override
        public void onAlarm(boolean fired) {
            if (!fired) {
                return; // replaced by an earlier one, or the reactor ends
            }
            alarm = null;
            long now = ticker.nanoTime();
            for (Runnable due = pollScheduledTask(now); due != null; due = pollScheduledTask(now)) {
                current = due;
                safeExecute(due);
            }
            current = null;
            arm();
        }

        /** For the watchdog, which asks while one runs. */
        @Override
        public String toString() {
            Runnable running = current;
            return running == null ? "Netty's timers" : "Netty's timer " + running;
        }
    }

    // ---- Channels ----

    @Override
    @Deprecated
    public ChannelFuture register(Channel channel) {
        return register(new DefaultChannelPromise(channel, this));
    }

    @Override
    @Deprecated
    public ChannelFuture register(ChannelPromise promise) {
        promise.channel().unsafe().register(this, promise);
        return promise;
    }

    @Override
    @Deprecated
    public ChannelFuture register(Channel channel, ChannelPromise promise) {
        channel.unsafe().register(this, promise);
        return promise;
    }

    @Override
    public Future<IoRegistration> register(IoHandle handle) {
        Promise<IoRegistration> promise = newPromise();
        if (inEventLoop()) {
            register(handle, promise);
        } else {
            execute(() -> register(handle, promise));
        }
        return promise;
    }

    private void register(IoHandle handle, Promise<IoRegistration> promise) {
        if (!(handle instanceof SocketIoHandle socket)) {
            promise.setFailure(new IllegalArgumentException(
                    "a Millrace loop takes the channels of " + getClass().getPackageName() + " only, not " + handle));
            return;
        }
        if (isShutdown()) {
            // Accepted just before the end, run just after it: nobody would close the channel any more.
            promise.setFailure(rejected());
            return;
        }
        ReactorRegistration registration = new ReactorRegistration(socket);
        registrations.add(registration);
        handle.registered();
        promise.setSuccess(registration);
    }

    private void closeChannels() {
        for (ReactorRegistration each : registrations) {
            each.closeHandle();
        }
    }

    /** A socket on this loop. */
    private final class ReactorRegistration implements IoRegistration, WatchSink {
        private final SocketIoHandle handle;
        private final SourceWatch watch;
        private final ReadinessEvent event = new ReadinessEvent();
        private final AtomicBoolean cancelled = new AtomicBoolean();

        ReactorRegistration(SocketIoHandle handle) {
            this.handle = handle;
            this.watch = loop.watch(handle.source(), this);
        }

        @Override
        public void onReady(int bits) {
            event.bits = bits;
            handle.handle(this, event);
        }

        @Override
        public void onLoopEnd() {
            closeHandle();
        }

        @Override
        public void cutOff() {
            ((MillraceChannel) handle.source()).cutOff();
        }

        void closeHandle() {
            try {
                handle.close();
            } catch (Exception e) {
                LOG.debug("Cannot close {}.", handle, e);
            }
        }

        @Override
        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // as the interface has it
        public <T> T attachment() {
            return (T) memory;
        }

        @Override
        public long submit(IoOps ops) {
            if (!isValid()) {
                return -1;
            }
            ReadinessOps wanted = (ReadinessOps) ops;
            watch.change(wanted.interest);
            return wanted.id;
        }

        @Override
        public boolean isValid() {
            return !cancelled.get() && handle.isSocketOpen();
        }

        @Override
        public boolean cancel() {
            if (!cancelled.compareAndSet(false, true)) {
                return false;
            }
            registrations.remove(this);
            watch.end();
            handle.unregistered();
            return true;
        }

        @Override
        public String toString() {
            return handle.toString();
        }
    }

    // ---- Ending ----

    @Override
    public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
        if (quietPeriod < 0 || timeout < quietPeriod) {
            throw new IllegalArgumentException("a timeout must not be shorter than the quiet period, and that not"
                    + " negative: " + timeout + ", " + quietPeriod);
        }
        return end(unit.toNanos(quietPeriod), unit.toNanos(timeout));
    }

    @Override
    @Deprecated
    public void shutdown() {
        var _ = end(0, 0);
    }

    private Future<?> end(long quiet, long timeout) {
        if (state.compareAndSet(State.RUNNING, State.ENDING)) {
            quietNanos = quiet;
            timeoutNanos = timeout;
            lastTask = ticker.nanoTime();
            if (!loop.tryExecute(this::beginEnd)) {
                finish();
            }
        }
        return termination;
    }

    private void beginEnd() {
        endBegan = ticker.nanoTime();
        cancelScheduledTasks();
        closeChannels();
        // Closing a channel leaves tasks, and those leave more; this goes behind the first of them.
        lastTask = ticker.nanoTime();
        loop.execute(this::awaitQuiet);
    }

    private void awaitQuiet() {
        if (state.get() != State.ENDING) {
            return;
        }
        closeChannels(); // those that were registered meanwhile
        long now = ticker.nanoTime();
        // Both may be as long as a long can say, so nothing is added to them.
        long quietLeft = quietNanos - (now - lastTask);
        long timeLeft = timeoutNanos - (now - endBegan);
        if (timeLeft <= 0 || (quietLeft <= 0 && registrations.isEmpty())) {
            state.set(State.CLOSED);
            if (!loop.tryExecute(this::finishOnLoop)) { // behind the tasks that were taken
                finishOnLoop();
            }
        } else {
            long wait = Math.min(quietLeft > 0 ? quietLeft : STRAGGLERS_NANOS, timeLeft);
            try {
                loop.schedule(wait, fired -> awaitQuiet());
            } catch (RejectedExecutionException e) {
                finishOnLoop();
            }
        }
    }

    private void finishOnLoop() {
        closeChannels();
        cancelScheduledTasks();
        AlarmKey last = alarm;
        if (last != null) {
            alarm = null;
            loop.cancel(last);
        }
        SourceWatch watch = presenceWatch;
        if (watch != null) {
            watch.end();
        }
        presence.close();
        leaveThread();
        finish();
    }

    private void leaveThread() {
        Deque<ReactorEventLoop> remaining = ON_THREAD.get();
        remaining.remove(this);
        ThreadExecutorMap.setCurrentExecutor(remaining.peekFirst());
        if (remaining.isEmpty()) {
            FastThreadLocal.removeAll(); // the caches of Netty's allocators
        }
    }

    /** Idempotent; any thread. */
    private void finish() {
        if (state.getAndSet(State.ENDED) != State.ENDED) {
            neighbours.remove(this);
            termination.trySuccess(null);
        }
    }

    /** Ends this loop when the reactor ends. */
    private final class Presence implements WatchSink {
        @Override
        public void onReady(int bits) {
            assert (bits & Bits.READABLE) == 0 : "nobody sets it";
        }

        @Override
        public void onLoopEnd() {
            state.compareAndSet(State.RUNNING, State.ENDING);
            lastTask = ticker.nanoTime();
            cancelScheduledTasks();
            closeChannels();
            if (!loop.tryExecute(ReactorEventLoop.this::finishWhenSettled)) {
                finishOnLoop();
            }
        }

        @Override
        public String toString() {
            return "Netty's event loop";
        }
    }

    /** In the reactor's last turn: closing channels leaves tasks, and those leave more, until all are deregistered. */
    private void finishWhenSettled() {
        if (registrations.isEmpty() || !loop.tryExecute(this::finishOnLoop)) {
            finishOnLoop();
        }
    }

    @Override
    public boolean isShuttingDown() {
        return state.get() != State.RUNNING;
    }

    @Override
    public boolean isShutdown() {
        State now = state.get();
        return now == State.CLOSED || now == State.ENDED;
    }

    @Override
    public boolean isTerminated() {
        return state.get() == State.ENDED;
    }

    @Override
    public Future<?> terminationFuture() {
        return termination;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return termination.await(timeout, unit);
    }

    @Override
    public String toString() {
        return "Netty on " + loop + " (" + state.get() + ")";
    }
}
