package io.millrace.engine.reactor;

import io.millrace.engine.BlockedLoop;
import io.millrace.engine.CancelResult;
import io.millrace.engine.LoopView;
import io.millrace.engine.Priority;
import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.internal.Insistence;
import io.millrace.engine.recorder.FlightRecorderSwitch;
import io.millrace.engine.recorder.LoopEvents;
import io.millrace.engine.recorder.OpenLoops;
import io.millrace.engine.vthread.CarriedThread;
import io.millrace.engine.vthread.ThreadCarrier;
import io.millrace.engine.watchdog.Heartbeat;
import io.millrace.engine.watchdog.Stalls;
import io.millrace.engine.watchdog.ThreadTimes;
import io.millrace.engine.watchdog.TimedItem;
import io.millrace.engine.watchdog.Watched;
import io.millrace.poll.Clock;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Readiness;
import io.millrace.poll.Source;
import io.millrace.poll.Trigger;
import io.millrace.poll.internal.PollAccess;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One thread, one {@link Poll}, a run queue by priority, and alarms.
 *
 * <h2>One turn</h2>
 *
 * <ol>
 *   <li>Decide the timeout: 0 if something is waiting to run, else until the next alarm.
 *   <li>Wait in the kernel; the poll reads its software queue, too.
 *   <li>Take the time, once: alarms and metrics of the turn use it.
 *   <li>Put the events into the run queue, behind what the last turn left over.
 *   <li>Take in the alarms that other threads have set, advance the wheels, and put the alarms that are due behind the
 *       events.
 *   <li>Deliver the snapshot: SYSTEM first, LOW last, each priority up to its budget. What is queued meanwhile waits.
 *   <li>Run what was left for the end of the turn, such as flushing writes; then some of the costly work, such as
 *       closing connections.
 *   <li>Publish the metrics, and the beat that the watchdog reads.
 * </ol>
 *
 * <p><b>Threads.</b> One thread at a time may call {@link #run} or {@link #runOnce}; for that time it is the reactor's
 * thread. Methods that say so may be called by any thread. Everything else belongs to the reactor's thread.
 *
 * <p><b>Failures.</b> Whatever user code throws is contained in {@link #runItem} and reported. Only a failure of the
 * engine's own steps leaves {@link #run}; then the manager or loop that owns the reactor must end.
 *
 * <p><b>Interrupts.</b> A reactor is stopped by a flag. On a {@link LoopThread} an interrupt is cleared after each
 * piece of user code. On a user's thread it stays set, and code that does I/O suspends it.
 *
 * <p><b>Why this is one class.</b> It is one turn: the steps above read and write the same few fields, above all the
 * turn's time, on one thread and without a lock. What can be separated has its own class and test: the queues in {@link
 * RunQueue} and {@link Inbox}, the alarms in {@link AlarmWheels}, the spin in {@link Spin}, the metrics in {@link
 * ReactorMetrics}. The rest is how other threads reach them.
 *
 * <p><b>Ending.</b> {@link #finish} is the reactor's last turn: queued work runs, pending alarms get false, all its
 * sinks are ended, and the poll is closed. Work that must not be lost even if it arrives too late for a turn goes
 * through {@link #executeAlways}.
 */
public final class Reactor implements Watched, ThreadCarrier {
    public static final long FOREVER = Long.MAX_VALUE;

    /**
     * How many tasks run at the end of one turn. The rest runs at the end of the next turn, which does not sleep
     * before. A broadcast to 10,000 connections leaves as many writes (end-5).
     */
    private static final int AT_END_OF_TURN = 512;

    /**
     * How many {@linkplain #runSoon costly} tasks a turn runs, such as closing a connection; a close and its callbacks
     * take 20 to 100 µs. The rest does not wait in the run queue, where it would go before everything that comes later.
     * So while 10,000 connections are closed, the others are served in every turn (end-5).
     */
    public static final int COSTLY = 32;

    private static final VarHandle CURRENT;
    private static final VarHandle CARRIED;
    private static final VarHandle ITEMS;
    private static final VarHandle TIMING;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            CURRENT = lookup.findVarHandle(Reactor.class, "current", Object.class);
            CARRIED = lookup.findVarHandle(Reactor.class, "carried", CarriedThread.class);
            ITEMS = lookup.findVarHandle(Reactor.class, "items", long.class);
            TIMING = lookup.findVarHandle(Reactor.class, "timing", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final String name;
    private final Clock clock;
    public final Poll poll;
    private final Events events;
    private final PollAccess access;
    private final RunQueue queue;
    private final AlarmWheels alarms;
    private final Spin spin;
    private final long tickNanos;
    public final ReactorMetrics metrics = new ReactorMetrics();
    private final Ring endOfTurn = new Ring();
    private final Ring costly = new Ring();
    private final ResumedThreads resumed = new ResumedThreads();
    private final WakeUps wakeUps = new WakeUps();
    private final Heartbeat heartbeat = new Heartbeat();
    private final Stalls stalls = new Stalls();

    private final PollAccess.PendingWork work = this::isPending;
    private final RunQueue.Runner runner = this::runItem;
    private final IntSupplier waiting = this::countWaiting;
    private final ReactorView view = new ReactorView(this);

    // The steps of the last turn, created beforehand: a lack of memory may be the reason why it ends.
    private final Consumer<Object> endSink = this::endSink;
    private final Runnable closeQueue = this::closeQueue;
    private final Runnable cutOffAlarms = this::cutOffAlarms;
    private final Runnable endSinks = this::endSinks;
    private final Runnable endOthers = this::endOthers;
    private final Runnable closePoll = this::closePoll;

    private volatile @Nullable Thread thread;
    /**
     * Whether the thread is the reactor's own and not a user's, so that interrupts can be cleared. Used on the
     * reactor's thread.
     */
    private boolean ownsThread;

    private volatile boolean stopRequested;
    private volatile boolean endRequested;
    private volatile boolean finished;

    private final LateTasks late = new LateTasks();

    /** Sinks that the last turn ends, too, though their sources may not be registered any more. */
    private Collection<? extends EventSink> others = List.of();

    /** The time of this turn, taken in step 3; at the end of the turn, the time of step 8. */
    private long now;

    /** What is running, an item or an {@link EngineStep}, and how many have run. For the watchdog and reports. */
    @SuppressWarnings("UnusedVariable") // accessed through CURRENT
    private @Nullable Object current;

    private long items;

    /** The virtual thread that runs on the reactor's thread now. */
    @SuppressWarnings("UnusedVariable") // accessed through CARRIED
    private @Nullable CarriedThread carried;

    /** Whether the watchdog has asked for the longest item, and which it was since then. */
    @SuppressWarnings("UnusedVariable") // accessed through TIMING
    private boolean timing;

    private volatile @Nullable TimedItem longest;
    /** The thread that ran it last: the system's number of it. */
    private long threadId;

    private volatile long systemThread = -1;

    Reactor(String name, EngineSettings settings) {
        FailureLog.prepare();
        Insistence.prepare();
        this.name = name;
        this.clock = settings.clock;
        this.poll = settings.openPoll();
        this.events = Events.withCapacity(settings.eventCapacity);
        this.access = PollAccess.get();
        this.queue = new RunQueue(settings.budget);
        this.now = clock.nanoTime();
        this.alarms = new AlarmWheels(settings.tickNanos, now);
        this.tickNanos = settings.tickNanos;
        this.spin = new Spin(settings.spinNanos);
    }

    // ---- Any thread ----

    /** Returns whether the calling thread is the one that runs it now; never on a virtual thread that it carries. */
    @Override
    @SuppressWarnings("ReferenceEquality") // threads are compared by identity
    public boolean inLoop() {
        return thread == Thread.currentThread();
    }

    @Override
    public void submit(CarriedThread virtual) {
        resumed.add(virtual);
        // Not earlier: one of this and leave() sees the other.
        if (thread == null) {
            resumed.runOneElsewhere();
            return;
        }
        try {
            execute(resumed);
        } catch (RejectedExecutionException e) {
            resumed.runOneElsewhere();
        }
    }

    /** Lets virtual threads go on elsewhere: one of them may hold the lock that this reactor waits for. */
    @Override
    public void onBlocked() {
        runResumedElsewhere();
        wakeUps.unparkAll();
    }

    /**
     * Unparks a thread that it does not carry: on the reactor's thread at the end of the turn, together with others,
     * which costs less. Any thread.
     */
    public void unparkSoon(Thread other) {
        if (!inLoop() || !other.isVirtual()) {
            LockSupport.unpark(other);
        } else if (wakeUps.add(other)) {
            atEndOfTurn(wakeUps);
        }
    }

    private void runResumedElsewhere() {
        while (resumed.runOneElsewhere()) {
            // the next
        }
    }

    @Override
    public void setCarried(@Nullable CarriedThread thread) {
        CARRIED.setOpaque(this, thread);
    }

    @Override
    public @Nullable CarriedThread carried() {
        return (CarriedThread) CARRIED.getOpaque(this);
    }

    /** Submits a task of normal priority. */
    public void execute(Runnable task) {
        queue.offer(task);
        access.wakeSleeper(poll);
    }

    public void execute(Runnable task, Priority priority) {
        queue.offer(task, priority);
        access.wakeSleeper(poll);
    }

    /**
     * Submits a task without waking the reactor. Call {@link #wake} afterwards, unless the task can wait until the
     * reactor wakes anyway.
     */
    public void post(Runnable task, Priority priority) {
        queue.offer(task, priority);
    }

    /**
     * Submits a task that must run in any case, such as a callback that reports an end. A reactor in its last turn runs
     * it at the end of that turn. After that, nothing runs on the reactor any more, so the calling thread runs it. Any
     * thread; does not wait.
     */
    public void executeAlways(Runnable task, Priority priority) {
        if (!tryExecute(task, priority)) {
            runContained(task);
        }
    }

    /**
     * Submits a task. A reactor in its last turn runs it at the end of that turn. Any thread; does not wait.
     *
     * @return false if that turn is over; then nothing was submitted
     */
    public boolean tryExecute(Runnable task, Priority priority) {
        try {
            execute(task, priority);
            return true;
        } catch (RejectedExecutionException e) {
            return late.offer(task);
        }
    }

    /** Returns the current time of its clock. */
    public long nanoTime() {
        return clock.nanoTime();
    }

    public void wake() {
        access.wakeSleeper(poll);
    }

    public void schedule(Alarm alarm) {
        if (inLoop()) {
            if (queue.isClosed()) {
                throw new RejectedExecutionException("cannot schedule " + alarm + ": the event manager has shut down");
            }
            place(alarm);
        } else {
            queue.offerControl(alarm);
            wake();
        }
    }

    /**
     * Makes an alarm that has fired wait once more, until a new deadline, when its callback returns. So a timeout that
     * is postponed needs no new alarm. Called from the alarm's callback.
     */
    public void rearm(Alarm alarm, long deadline) {
        assert alarm.isRunByThisThread() && inLoop();
        alarm.deadline = deadline;
        alarm.again = true;
    }

    /** Cancels a task or an alarm. An alarm's callback runs inside this call. */
    public CancelResult cancel(Cancellable key) {
        CancelResult result = key.tryCancel();
        if (result == CancelResult.CANCELLED) {
            if (key instanceof Alarm alarm) {
                runCancelled(alarm);
                takeOut(alarm);
            } else {
                key.end();
            }
        }
        return result;
    }

    private void runCancelled(Alarm alarm) {
        try {
            alarm.runCancelled();
        } catch (Throwable e) {
            FailureLog.report(alarm, e);
        }
    }

    /** Takes an alarm out of the wheel. It need not wake the reactor; the next turn is early enough. */
    private void takeOut(Alarm alarm) {
        if (inLoop()) {
            forget(alarm);
        } else {
            try {
                queue.offerControl(alarm);
            } catch (RejectedExecutionException e) {
                // The reactor has ended, and its wheels with it.
            }
        }
    }

    public void register(Source source, long token, EventSink sink, Interest interest, Trigger trigger) {
        access.register(poll, source, token, sink, interest, trigger);
    }

    /** Returns the part of a readiness that a handler with this interest may see. */
    public Readiness visible(int bits, Interest interest) {
        return access.visible(bits, interest);
    }

    public boolean emulatesTriggers() {
        return access.emulatesTriggers(poll);
    }

    int depth(Priority priority) {
        return queue.depth(priority);
    }

    /** Makes {@link #run} return after its current turn, and immediately from now on. */
    public void stop() {
        stopRequested = true;
        wake();
    }

    /** Allows {@link #run} to run again. */
    public void clearStop() {
        stopRequested = false;
    }

    /** Makes {@link #run} finish when it wakes. */
    public void requestEnd() {
        endRequested = true;
    }

    /** Makes {@link #run} finish now. */
    public void end() {
        requestEnd();
        wake();
    }

    @Override
    public Heartbeat heartbeat() {
        return heartbeat;
    }

    @Override
    public Stalls stalls() {
        return stalls;
    }

    @Override
    public long items() {
        return (long) ITEMS.getOpaque(this);
    }

    @Override
    public long systemThread() {
        return systemThread;
    }

    /** Starts to measure items, at the cost of reading the clock twice per item. */
    @Override
    public void startTiming() {
        TIMING.setOpaque(this, true);
    }

    @Override
    public @Nullable TimedItem stopTiming() {
        TIMING.setOpaque(this, false);
        TimedItem item = longest;
        longest = null;
        return item;
    }

    @Override
    public BlockedLoop describeTurn(long lastsNanos) {
        Thread running = thread;
        Object item = CURRENT.getOpaque(this);
        CarriedThread virtual = carried();
        String handler = FailureLog.name(item);
        if (virtual != null) {
            // Its frames are not on the stack of the thread that carries it.
            running = virtual.thread();
            handler = virtual + (item == resumed ? "" : ", in " + handler);
        }
        return new BlockedLoop(
                name,
                handler,
                Duration.ofNanos(lastsNanos),
                running == null ? List.of() : List.of(running.getStackTrace()));
    }

    // ---- The reactor's thread ----

    /** Returns the time of this turn. */
    public long now() {
        return now;
    }

    /** Adds what a sink wants to run to the snapshot that is being taken. */
    public void add(Runnable item, Priority priority) {
        queue.add(item, priority);
    }

    /**
     * Runs a task once, at the end of this turn or, if there are many, of one of the next. In the order of the calls.
     */
    public void atEndOfTurn(Runnable what) {
        endOfTurn.add(what);
    }

    /**
     * Runs a costly task once, after the end of this turn or of one of the next; {@value #COSTLY} in each turn. In the
     * order of the calls.
     */
    public void runSoon(Runnable what) {
        costly.add(what);
    }

    /** Puts an alarm into the wheel: a new one, or one that has fired and waits again. */
    void place(Alarm alarm) {
        if (!alarm.isWaiting()) {
            alarm.wheelKey = Alarm.OUT;
        } else {
            // The turn's time is old by now, and an alarm that is due at once must not wait for a tick because of that.
            long ahead = alarm.deadline - now;
            alarms.add(alarm, ahead > 0 && ahead < tickNanos ? clock.nanoTime() : now);
        }
    }

    /** Takes a cancelled alarm out of the wheel. */
    void forget(Alarm alarm) {
        alarms.remove(alarm);
    }

    private void cutOff(Alarm alarm) {
        if (alarm.begin()) {
            runCancelled(alarm);
        }
    }

    /** Runs until {@link #stop} or {@link #end}, on the calling thread. */
    public void run(long maxWaitNanos, @Nullable Runnable tick) {
        enter();
        try {
            while (!stopRequested && !endRequested) {
                turn(maxWaitNanos);
                if (tick != null) {
                    runItem(tick);
                }
            }
        } finally {
            leave();
        }
    }

    /** Runs one turn on the calling thread. Returns how many items ran. */
    public int runOnce(long maxWaitNanos, @Nullable Runnable tick) {
        enter();
        try {
            int ran = turn(maxWaitNanos);
            if (tick != null) {
                runItem(tick);
            }
            return ran;
        } finally {
            leave();
        }
    }

    /** Uses the poll's check that only one thread at a time is in it, once for all turns of a run. */
    private void enter() {
        if (!access.tryEnter(poll)) {
            Thread present = thread;
            throw new IllegalStateException("cannot run " + name + ": "
                    + (inLoop()
                            ? "it is running this callback; return from it instead"
                            : (present == null ? "another thread" : present) + " runs it"));
        }
        thread = Thread.currentThread();
        ownsThread = Thread.currentThread() instanceof LoopThread;
        long id = Thread.currentThread().threadId();
        if (id != threadId) {
            threadId = id;
            systemThread = ThreadTimes.currentThread();
        }
        // What is already queued runs in a turn that does not sleep before; the watchdog must see that turn, too.
        now = clock.nanoTime();
        heartbeat.markAwake(now);
    }

    private void leave() {
        heartbeat.markLeft();
        thread = null;
        // Whoever ran the reactor may wait for a virtual thread now, or never come back.
        runResumedElsewhere();
        wakeUps.unparkAll();
        access.leave(poll);
    }

    /** Runs the eight steps of {@linkplain Reactor one turn}, in order. */
    private int turn(long maxWaitNanos) {
        waitForEvents(maxWaitNanos); // steps 1 to 3
        Object recorded = FlightRecorderSwitch.isOn() ? LoopEvents.beginTurn() : null;
        queueEvents(); // 4
        expireAlarms(); // 5
        int ran = deliverSnapshot(); // 6
        runEndOfTurn(); // 7
        publish(ran); // 8
        if (recorded != null) {
            LoopEvents.endTurn(recorded, name, ran, waiting);
        }
        return ran;
    }

    private void waitForEvents(long maxWaitNanos) {
        enter(EngineStep.POLL);
        if (isPending()) {
            heartbeat.next(now);
            access.pollOnce(poll, events, 0, work);
            now = clock.nanoTime();
        } else {
            sleep(Math.min(maxWaitNanos, alarms.nanosUntilNext(now)));
        }
    }

    private void queueEvents() {
        enter(EngineStep.EVENTS);
        queue.beginSnapshot();
        while (events.advance()) {
            if (access.sink(events) instanceof EventSink sink) {
                metrics.countEvent();
                sink.onReady(access.bits(events));
            }
        }
    }

    private void expireAlarms() {
        enter(EngineStep.ALARMS);
        queue.control();
        alarms.expire(now, queue, metrics);
    }

    private int deliverSnapshot() {
        enter(EngineStep.DELIVERY);
        return queue.deliver(runner);
    }

    private int countWaiting() {
        int count = endOfTurn.size() + costly.size();
        for (Priority priority : Priority.values()) {
            count += depth(priority);
        }
        return count;
    }

    private void runEndOfTurn() {
        for (int left = Math.min(endOfTurn.size(), AT_END_OF_TURN); left > 0; left--) {
            runItem(endOfTurn.take());
        }
        for (int left = Math.min(costly.size(), COSTLY); left > 0; left--) {
            runItem(costly.take());
        }
    }

    private void publish(int ran) {
        enter(EngineStep.PUBLISH);
        long ended = clock.nanoTime();
        metrics.countTurn(ran, ended - now, alarms.size());
        now = ended;
    }

    private void enter(EngineStep step) {
        setCurrent(step);
    }

    /** The only place that writes it, and so linked in the first turn: the last one may have no memory for that. */
    private void setCurrent(Object item) {
        CURRENT.setOpaque(this, item);
        ITEMS.setOpaque(this, items + 1);
    }

    private void sleep(long nanos) {
        heartbeat.markAsleep(); // looking for work does not count as work
        if (nanos != 0 && spin.isOn() && spins(nanos)) {
            return;
        }
        access.pollOnce(poll, events, nanos, work);
        now = clock.nanoTime();
        heartbeat.markAwake(now);
    }

    /** Looks for work without sleeping, for as long as that is promising. Returns true if there was some. */
    private boolean spins(long nanos) {
        long began = now;
        long budget = Math.min(nanos, spin.budgetNanos());
        do {
            if (access.pollOnce(poll, events, 0, work) > 0 || isPending()) {
                spin.recordHit();
                now = clock.nanoTime();
                heartbeat.markAwake(now);
                return true;
            }
            Thread.onSpinWait();
        } while (clock.nanoTime() - began < budget);
        spin.recordMiss();
        return false;
    }

    private boolean isPending() {
        return queue.isPending() || endOfTurn.size() > 0 || costly.size() > 0 || stopRequested || endRequested;
    }

    /** The boundary around user code: nothing that it throws gets past this method (end-1). */
    private void runItem(Runnable item) {
        setCurrent(item);
        try {
            if ((boolean) TIMING.getOpaque(this)) {
                runTimed(item);
            } else {
                item.run();
            }
        } catch (Throwable e) {
            metrics.countFailure();
            FailureLog.report(item, e);
        }
        clearInterrupt();
    }

    /**
     * Clears an interrupt that user code left behind, so that it does not reach other code; a loop is stopped by a
     * flag. Called on the reactor's thread.
     */
    public void clearInterrupt() {
        if (ownsThread) {
            Thread.interrupted();
        }
    }

    private void runTimed(Runnable item) {
        long began = clock.nanoTime();
        try {
            item.run();
        } finally {
            long took = clock.nanoTime() - began;
            TimedItem known = longest;
            if (known == null || took > known.nanos()) {
                longest = new TimedItem(item, took);
            }
        }
    }

    /** Like {@link #runItem}, on any thread. */
    private static void runContained(Runnable item) {
        try {
            item.run();
        } catch (Throwable e) {
            FailureLog.report(item, e);
        }
    }

    /**
     * Opens what would otherwise be opened at the first wait, so that a lack of descriptors shows now and not on the
     * reactor's thread. Called before it runs.
     */
    void prepare() {
        enter();
        try {
            access.pollOnce(poll, events, 0, work);
        } finally {
            leave();
        }
        OpenLoops.add(view);
        // Here, because the first look takes long if somebody records already: the loop would be blocked by it.
        boolean ignored = FlightRecorderSwitch.isOn();
    }

    /**
     * Runs the last turn on the calling thread, which becomes the reactor's: queued work runs, further work is refused,
     * pending alarms get false, all sinks end (including {@code others}, whose sources may not be registered any more),
     * and the poll is closed. A step that fails does not keep the next from running.
     */
    public void finish(Collection<? extends EventSink> others) {
        enter();
        try {
            runItem(closeQueue);
            finished = true;
            runItem(cutOffAlarms);
            runItem(endSinks);
            this.others = others;
            runItem(endOthers);
            runRest();
        } finally {
            try {
                leave();
            } finally {
                runContained(closePoll);
            }
        }
    }

    private void closeQueue() {
        for (Runnable item : queue.close()) {
            runItem(item);
        }
    }

    private void cutOffAlarms() {
        for (Alarm alarm : alarms.takeAll()) {
            cutOff(alarm);
            clearInterrupt();
        }
    }

    private void endSinks() {
        access.forEachSink(poll, endSink);
    }

    private void endOthers() {
        for (EventSink other : others) {
            if (other.isOf(this)) {
                endSink(other);
            }
        }
    }

    private void closePoll() {
        OpenLoops.remove(view);
        poll.close();
    }

    /** Contained one by one, without allocating an object: see {@link #closeQueue}. */
    private void endSink(Object sink) {
        if (sink instanceof EventSink ours) {
            setCurrent(ours);
            try {
                ours.onReactorEnd();
            } catch (Throwable e) {
                metrics.countFailure();
                FailureLog.reportEnd(ours, e);
            }
            clearInterrupt();
        }
    }

    /** Runs late tasks until there are no more, at the end of the last turn. */
    private void runRest() {
        for (; ; ) {
            while (endOfTurn.size() > 0) {
                runItem(endOfTurn.take());
            }
            if (costly.size() > 0) {
                runItem(costly.take());
                continue;
            }
            Runnable next = late.takeOrEnd();
            if (next == null) {
                return;
            }
            runItem(next);
        }
    }

    /**
     * Disconnects the peers of a reactor that a handler keeps from ending: see {@link EventSink#cutOff}. Any thread.
     */
    public void cutOffSinks() {
        access.forEachSink(poll, sink -> {
            if (sink instanceof EventSink ours) {
                runContained(ours::cutOff);
            }
        });
    }

    /** Returns whether its last turn has begun to end the sinks. */
    public boolean hasFinished() {
        return finished;
    }

    public String name() {
        return name;
    }

    // ---- Reports. Any thread ----

    LoopView view() {
        return view;
    }

    LoopView.Activity activity() {
        if (thread == null) {
            return finished ? LoopView.Activity.ENDED : LoopView.Activity.NOT_RUN;
        }
        return heartbeat.isOdd() ? LoopView.Activity.WORKING : LoopView.Activity.SLEEPING;
    }

    /** Returns how long it has been in its turn; 0 if it is in none. */
    long turnNanos() {
        return activity() == LoopView.Activity.WORKING ? Math.max(0, clock.nanoTime() - heartbeat.turnBegan()) : 0;
    }

    /** Returns what it is running; null if it is in no turn. */
    @Nullable
    String running() {
        if (activity() != LoopView.Activity.WORKING) {
            return null;
        }
        Object item = CURRENT.getOpaque(this);
        CarriedThread virtual = carried();
        return virtual != null ? virtual.toString() : item == null ? null : FailureLog.name(item);
    }

    long clockNanos() {
        return clock.nanoTime();
    }

    List<LoopView.PendingAlarm> nextAlarms(int atMost) {
        NextAlarms next = new NextAlarms(atMost);
        try {
            alarms.forEach(next::add);
        } catch (RuntimeException e) {
            return List.of(); // they changed while they were looked at
        }
        return next.list(clock.nanoTime());
    }

    List<String> describeSources(int atMost) {
        List<String> lines = new ArrayList<>();
        access.describe(poll, line -> {
            if (lines.size() < atMost) {
                lines.add(line);
            }
        });
        return lines;
    }

    /**
     * Describes what the reactor is doing, what is waiting and what is registered, for {@code dump()}. Takes no lock;
     * any thread.
     */
    public void describe(StringBuilder text) {
        text.append(name).append(": ");
        switch (activity()) {
            case ENDED -> text.append("has ended");
            case NOT_RUN -> text.append("is not running");
            case SLEEPING -> text.append("sleeps");
            case WORKING -> {
                text.append("has been in a turn for ")
                        .append(turnNanos() / 1_000)
                        .append(" µs");
                String item = running();
                if (item != null) {
                    text.append(", in ").append(item);
                }
            }
        }
        text.append("; ")
                .append(poll.backend())
                .append(", ")
                .append(metrics.turns())
                .append(" turns, ")
                .append(poll.waits());
        text.append(" waits\n");
        for (Priority priority : Priority.values()) {
            if (depth(priority) > 0) {
                text.append("  ")
                        .append(depth(priority))
                        .append(" tasks wait, ")
                        .append(priority)
                        .append('\n');
            }
        }
        describeAlarms(text);
        access.describe(poll, line -> text.append("  source ").append(line).append('\n'));
    }

    /** Describes what keeps the reactor from ending: what is running, and what is waiting to run. */
    public void describeRemains(List<String> remains) {
        Object item = CURRENT.getOpaque(this);
        if (heartbeat.isOdd() && item != null && !(item instanceof EngineStep)) {
            CarriedThread virtual = carried();
            remains.add(name + " is in " + (virtual == null ? FailureLog.name(item) : virtual.toString()));
        }
        for (Priority priority : Priority.values()) {
            if (depth(priority) > 0) {
                remains.add(depth(priority) + " tasks of " + name + ", " + priority);
            }
        }
    }

    private void describeAlarms(StringBuilder text) {
        NextAlarms next = new NextAlarms();
        try {
            alarms.forEach(next::add);
        } catch (RuntimeException e) {
            text.append("  (the alarms changed while they were looked at)\n");
        }
        next.describe(clock.nanoTime(), text);
    }

    @Override
    public String toString() {
        return name + " on " + poll;
    }
}
