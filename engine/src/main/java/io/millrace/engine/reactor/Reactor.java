package io.millrace.engine.reactor;

import io.millrace.engine.BlockedLoop;
import io.millrace.engine.CancelResult;
import io.millrace.engine.Priority;
import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.watchdog.Heartbeat;
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
import java.util.Collection;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One thread, one {@link Poll}, a run queue by priority, and alarms.
 *
 * <h2>One turn</h2>
 *
 * <ol>
 *   <li>Decide the timeout: 0 if something is to be run, else until the next alarm.
 *   <li>Wait in the kernel; the poll reads its software queue too.
 *   <li>Take the time, once: alarms and metrics of the turn use it.
 *   <li>Put the events into the run queue, behind what the last turn left over.
 *   <li>Take in the alarms that others have set, advance the wheel, and put the alarms that are due behind the events.
 *   <li>Deliver the snapshot: SYSTEM first, LOW last, each class up to its budget. What is queued meanwhile waits.
 *   <li>Run what was left for the end of the turn, such as flushing writes; then some of what is costly, such as closing connections.
 *   <li>Publish: the metrics, and the beat that the watchdog looks at.
 * </ol>
 *
 * <p><b>Threads.</b> {@link #run} and {@link #runOnce} by one thread at a time, which is the reactor's for that time. What is marked so by any
 * thread. All else belongs to the reactor's thread.
 *
 * <p><b>Failures.</b> Whatever user code throws is contained in {@link #runItem} and reported; only a failure of the engine's own steps leaves {@link #run}, and then its owner must
 * end what it is part of.
 *
 * <p><b>Interrupts.</b> A reactor stops by a flag. On a {@link LoopThread} an interrupt is cleared after each piece of user code; on a user's thread it stays, and those who do I/O put it aside.
 *
 * <p><b>One class,</b> because it is one turn: the steps above read and write the same few fields, the turn's time first of all, on one thread and without a lock. What can be told apart is a class of its own, with its own test: the
 * queues in {@link RunQueue} and {@link Inbox}, the alarms in {@link AlarmWheels}, the spin in {@link Spin}, the metrics in {@link ReactorMetrics}. The rest is how other threads reach them.
 *
 * <p><b>Ending.</b> {@link #finish} is the reactor's last turn: what is queued runs, pending alarms get false, all that it carries is ended, and the poll is closed. What must not be
 * lost though it comes too late for a turn goes through {@link #executeAlways}.
 */
public final class Reactor implements Watched {
    public static final long FOREVER = Long.MAX_VALUE;

    /** How much is run at the end of one turn; the rest at the end of the next, which does not sleep before. A broadcast to 10,000 connections leaves as many writes (end-5). */
    private static final int AT_END_OF_TURN = 512;

    /**
     * How much of what is {@linkplain #soon costly} a turn runs, such as the end of a connection: a close and its callbacks take 20 to 100 µs. The rest does not wait in a class of the run queue, where
     * it would be before all that comes later: while 10,000 connections end, the others are served in every turn (end-5).
     */
    public static final int COSTLY = 32;

    private static final VarHandle CURRENT;
    private static final VarHandle ITEMS;
    private static final VarHandle TIMING;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            CURRENT = lookup.findVarHandle(Reactor.class, "current", Object.class);
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
    private final Heartbeat heartbeat = new Heartbeat();

    private final PollAccess.PendingWork work = this::isPending;
    private final RunQueue.Runner runner = this::runItem;

    // The steps of the last turn, made beforehand: it may be the want of memory that ends it.
    private final Consumer<Object> endOwner = this::endOwner;
    private final Runnable closeQueue = this::closeQueue;
    private final Runnable cutOffAlarms = this::cutOffAlarms;
    private final Runnable endOwners = this::endOwners;
    private final Runnable closePoll = this::closePoll;

    private volatile @Nullable Thread thread;
    /** Whether that is its own, and not a user's: then an interrupt is nobody's. The reactor's thread. */
    private boolean ownsThread;

    private volatile boolean stopRequested;
    private volatile boolean endRequested;
    private volatile boolean finished;

    private final LateTasks late = new LateTasks();

    /** The time of this turn, taken in step 3; at the end of the turn, the time of step 8. */
    private long now;

    /** What it is in: an item, or an {@link EngineStep}; and how many there have been. For the watchdog and reports. */
    @SuppressWarnings("UnusedVariable") // by CURRENT
    private @Nullable Object current;

    private long items;

    /** Whether the watchdog has asked which item takes longest; and which has, since then. */
    @SuppressWarnings("UnusedVariable") // by TIMING
    private boolean timing;

    private volatile @Nullable TimedItem longest;
    /** The thread that ran it last, and the system's number of it. */
    private long threadId;

    private volatile long systemThread = -1;

    Reactor(String name, EngineSettings settings) {
        FailureLog.prepare();
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

    /** Whether the calling thread is the one that runs it now. */
    @SuppressWarnings("ReferenceEquality") // a thread is itself
    public boolean inLoop() {
        return thread == Thread.currentThread();
    }

    /** Hands over a task of normal priority. */
    public void execute(Runnable task) {
        queue.offer(task);
        access.wakeSleeper(poll);
    }

    public void execute(Runnable task, Priority priority) {
        queue.offer(task, priority);
        access.wakeSleeper(poll);
    }

    /** Hands over a task, without waking the reactor: to be followed by {@link #wake}, unless it can wait until the reactor wakes anyway. */
    public void post(Runnable task, Priority priority) {
        queue.offer(task, priority);
    }

    /**
     * Hands over what must run whatever happens, such as the callback that tells of an end. A reactor in its last turn runs it at the end of that; after that nothing else runs on the reactor
     * any more, so the calling thread runs it. Any thread, without waiting.
     */
    public void executeAlways(Runnable task, Priority priority) {
        try {
            execute(task, priority);
        } catch (RejectedExecutionException e) {
            if (!late.offer(task)) {
                runContained(task);
            }
        }
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

    /** In the callback of an alarm that has fired: it waits once more, for this deadline, when that returns. So a timeout that is put off costs no new alarm each time. */
    public void again(Alarm alarm, long deadline) {
        assert alarm.isRunByThisThread() && inLoop();
        alarm.deadline = deadline;
        alarm.again = true;
    }

    /** Cancels a task or an alarm; an alarm's callback runs here and now. */
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

    /** It need not wake the reactor for that: whatever wakes it next will do. */
    private void takeOut(Alarm alarm) {
        if (inLoop()) {
            forget(alarm);
        } else {
            try {
                queue.offerControl(alarm);
            } catch (RejectedExecutionException e) {
                // It has ended, and its wheels with it.
            }
        }
    }

    public void register(Source source, long token, EventSink owner, Interest interest, Trigger trigger) {
        access.register(poll, source, token, owner, interest, trigger);
    }

    /** What of a readiness a handler with this interest may see. */
    public Readiness visible(int bits, Interest interest) {
        return access.visible(bits, interest);
    }

    public boolean emulatesTriggers() {
        return access.emulatesTriggers(poll);
    }

    int depth(Priority priority) {
        return queue.depth(priority);
    }

    /** Makes {@link #run} return after the turn it is in, and at once from now on. */
    public void stop() {
        stopRequested = true;
        wake();
    }

    /** Lets {@link #run} run again. */
    public void clearStop() {
        stopRequested = false;
    }

    /** Makes {@link #run} finish, when it wakes. */
    public void requestEnd() {
        endRequested = true;
    }

    /** Makes {@link #run} finish. */
    public void end() {
        requestEnd();
        wake();
    }

    @Override
    public Heartbeat heartbeat() {
        return heartbeat;
    }

    @Override
    public long items() {
        return (long) ITEMS.getOpaque(this);
    }

    @Override
    public long systemThread() {
        return systemThread;
    }

    /** It costs two looks at the clock for each item. */
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
        return new BlockedLoop(
                name,
                FailureLog.name(item),
                Duration.ofNanos(lastsNanos),
                running == null ? List.of() : List.of(running.getStackTrace()));
    }

    // ---- The reactor's thread ----

    /** The time of this turn. */
    public long now() {
        return now;
    }

    /** Adds what an owner's signal found, to the snapshot that is being made. */
    public void add(Runnable item, Priority priority) {
        queue.add(item, priority);
    }

    /** Runs something once, at the end of this turn, or of one of the next if there is much. In the order of the calls. */
    public void atEndOfTurn(Runnable what) {
        endOfTurn.add(what);
    }

    /** Runs something costly once, behind the end of this turn, or of one of the next: {@value #COSTLY} in each turn. In the order of the calls. */
    public void soon(Runnable what) {
        costly.add(what);
    }

    /** Puts an alarm into the wheel: one that is new, or has fired and waits again. */
    void place(Alarm alarm) {
        if (!alarm.isWaiting()) {
            alarm.wheelKey = Alarm.OUT;
        } else {
            // The turn's time is old by now; whoever says "at once" must not wait for a tick because of that.
            long ahead = alarm.deadline - now;
            alarms.add(alarm, ahead > 0 && ahead < tickNanos ? clock.nanoTime() : now);
        }
    }

    /** Takes an alarm out of the wheel that was cancelled. */
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

    /** One turn, on the calling thread. Returns how many items it ran. */
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

    private void enter() {
        Thread present = thread;
        if (present != null) {
            throw new IllegalStateException("cannot run " + name + ": "
                    + (inLoop() ? "it is running this callback; return from it instead" : present + " runs it"));
        }
        synchronized (this) {
            if (thread != null) {
                throw new IllegalStateException("cannot run " + name + ": " + thread + " runs it");
            }
            thread = Thread.currentThread();
        }
        ownsThread = Thread.currentThread() instanceof LoopThread;
        long id = Thread.currentThread().threadId();
        if (id != threadId) {
            threadId = id;
            systemThread = ThreadTimes.currentThread();
        }
        // What is to be run already runs in a turn without a sleep before it; the watchdog must see that one too.
        now = clock.nanoTime();
        heartbeat.awake(now);
    }

    private void leave() {
        heartbeat.left();
        thread = null;
    }

    /** The eight steps of {@linkplain Reactor one turn}, in their order. */
    private int turn(long maxWaitNanos) {
        waitForEvents(maxWaitNanos); // steps 1 to 3
        queueEvents(); // 4
        expireAlarms(); // 5
        int ran = deliverSnapshot(); // 6
        runEndOfTurn(); // 7
        publish(ran); // 8
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
            if (access.owner(events) instanceof EventSink sink) {
                metrics.event();
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
        metrics.turn(ran, ended - now, alarms.size());
        now = ended;
    }

    private void enter(EngineStep step) {
        CURRENT.setOpaque(this, step);
        ITEMS.setOpaque(this, items + 1);
    }

    private void sleep(long nanos) {
        heartbeat.asleep(); // to look for work is not to work
        if (nanos != 0 && spin.isOn() && spins(nanos)) {
            return;
        }
        access.pollOnce(poll, events, nanos, work);
        now = clock.nanoTime();
        heartbeat.awake(now);
    }

    /** Looks for work without sleeping, for as long as that is promising; true if there was some. */
    private boolean spins(long nanos) {
        long began = now;
        long budget = Math.min(nanos, spin.budgetNanos());
        do {
            if (access.pollOnce(poll, events, 0, work) > 0 || isPending()) {
                spin.found();
                now = clock.nanoTime();
                heartbeat.awake(now);
                return true;
            }
            Thread.onSpinWait();
        } while (clock.nanoTime() - began < budget);
        spin.missed();
        return false;
    }

    private boolean isPending() {
        return queue.isPending() || endOfTurn.size() > 0 || costly.size() > 0 || stopRequested || endRequested;
    }

    /** The boundary around user code: nothing that it throws gets past this (end-1). */
    private void runItem(Runnable item) {
        CURRENT.setOpaque(this, item);
        ITEMS.setOpaque(this, items + 1);
        try {
            if ((boolean) TIMING.getOpaque(this)) {
                runTimed(item);
            } else {
                item.run();
            }
        } catch (Throwable e) {
            metrics.failure();
            FailureLog.report(item, e);
        }
        clearInterrupt();
    }

    /** After user code: an interrupt that it has left behind must not reach the next one's. A loop stops by a flag. The reactor's thread. */
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

    /** As {@link #runItem}, on any thread. */
    private static void runContained(Runnable item) {
        try {
            item.run();
        } catch (Throwable e) {
            FailureLog.report(item, e);
        }
    }

    /** Opens what is opened at the first wait, so that a lack of descriptors shows now and not in the reactor's thread. Before it runs. */
    void prepare() {
        access.pollOnce(poll, events, 0, work);
    }

    /**
     * The last turn, on the calling thread, which becomes the reactor's: what is queued runs, what is not accepted any more is refused, pending alarms get false, all that it carries ends
     * ({@code others} too, whose sources may not be registered any more), and the poll is closed. A step that fails does not keep the next from being taken.
     */
    public void finish(Collection<? extends EventSink> others) {
        enter();
        try {
            runItem(closeQueue);
            finished = true;
            runItem(cutOffAlarms);
            runItem(endOwners);
            for (EventSink other : others) {
                if (other.isOf(this)) {
                    endOwner(other);
                }
            }
            runRest();
        } finally {
            leave();
            runContained(closePoll);
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

    private void endOwners() {
        access.owners(poll, endOwner);
    }

    private void closePoll() {
        poll.close();
    }

    /** Contained one by one, and without an object: see {@link #closeQueue}. */
    private void endOwner(Object owner) {
        if (owner instanceof EventSink ours) {
            CURRENT.setOpaque(this, ours);
            try {
                ours.onReactorEnd();
            } catch (Throwable e) {
                metrics.failure();
                FailureLog.report(ours, "could not end in order", e);
            }
            clearInterrupt();
        }
    }

    /** The end of the last turn: until there is nothing more. */
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

    /** Cuts off the peers of a reactor that a handler keeps from ending: see {@link EventSink#cutOff}. Any thread. */
    public void cutOffOwners() {
        access.owners(poll, owner -> {
            if (owner instanceof EventSink ours) {
                runContained(ours::cutOff);
            }
        });
    }

    /** Whether its last turn has begun to tell those who are left. */
    public boolean hasFinished() {
        return finished;
    }

    public String name() {
        return name;
    }

    // ---- Reports ----

    /** What it is doing, what waits, what is registered: lines for {@code dump()}. Takes no lock; any thread. */
    public void describe(StringBuilder text) {
        boolean works = heartbeat.isOdd();
        Thread running = thread;
        text.append(name).append(": ");
        if (running == null) {
            text.append(finished ? "has ended" : "is not running");
        } else if (!works) {
            text.append("sleeps");
        } else {
            text.append("has been in a turn for ")
                    .append((clock.nanoTime() - heartbeat.turnBegan()) / 1_000)
                    .append(" µs");
            Object item = CURRENT.getOpaque(this);
            if (item != null) {
                text.append(", in ").append(FailureLog.name(item));
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

    /** What keeps it from ending, as far as it is running or waits to be run. */
    public void describeRemains(List<String> remains) {
        Object item = CURRENT.getOpaque(this);
        if (heartbeat.isOdd() && item != null && !(item instanceof EngineStep)) {
            remains.add(name + " is in " + FailureLog.name(item));
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
