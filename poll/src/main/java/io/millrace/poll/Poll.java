package io.millrace.poll;

import io.millrace.poll.internal.CloseObserver;
import io.millrace.poll.internal.Durations;
import io.millrace.poll.internal.LeakTracker;
import io.millrace.poll.internal.PollAccess;
import io.millrace.poll.internal.TimerWheel;
import io.millrace.sys.Bits;
import io.millrace.sys.Family;
import io.millrace.sys.KernelKey;
import io.millrace.sys.Selector;
import io.millrace.sys.selector.Backends;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Waits for many sources at once: descriptors, software sources and timers.
 *
 * <p><b>After an edge, read until would-block.</b> A source registered with {@link Trigger#EDGE} is reported when it
 * becomes ready, and then not again until it was drained or reregistered. So read, write or accept until the call
 * answers would-block (a timer or a channel: null); otherwise what you leave behind may wait for ever, even if more
 * arrives: that is a new edge for some sources and backends and not for others, see {@link Trigger#EDGE}. With {@link
 * Trigger#LEVEL} a source is reported by every poll for as long as it is ready.
 *
 * {@snippet :
 * try (Poll poll = Poll.open();
 *      Timer<String> timer = Timer.withTick(Duration.ofMillis(10));
 *      Channel<String> channel = Channel.unbounded()) {
 *   poll.register(timer, 1, Interest.READABLE, Trigger.EDGE);
 *   poll.register(channel, 2, Interest.READABLE, Trigger.LEVEL);
 *   Events events = Events.withCapacity(1024);
 *   while (poll.poll(events, Duration.ofSeconds(1)) > 0) {
 *     for (Event event : events) {
 *       if (event.token() == 1) {
 *         String due;
 *         while ((due = timer.poll()) != null) { // an edge: take everything that is due
 *           System.out.println(due);
 *         }
 *       } else {
 *         System.out.println(channel.poll()); // a level: the rest is reported again
 *       }
 *     }
 *   }
 * }
 * }
 *
 * <p><b>What it guarantees.</b> Each poll reports a source at most once, under its current token and within its current
 * interest. A source that was deregistered or closed is never reported again. If the {@link Events} are too small for
 * everything that is ready, kernel events and software events share them fairly. A poll that returns no events has
 * waited for its whole timeout, unless {@link #wake} was called. An event may be spurious: treat it as a hint, and
 * expect would-block.
 *
 * <p><b>Threads.</b> One thread at a time may poll; a second one gets an {@link IllegalStateException}. Any thread may
 * call everything else, even during a poll: control calls are serialised, the last one wins, and they take effect at
 * once. Your code never runs under a lock of the poll.
 *
 * <p><b>Virtual threads</b> may call everything except a poll that waits. A native wait holds its carrier thread, so a
 * few of them would stop all other virtual threads.
 *
 * <p><b>One call of {@link #poll(Events, Duration)}</b> does this: 1. take a snapshot of the software queue and expire
 * the timers; 2. decide how long to wait: not at all if software work is pending, else until the timeout or the next
 * timer, whichever is first; 3. wait in the kernel; 4. read the kernel's events; 5. take the snapshot and expire the
 * timers once more; 6. read the software events; 7. start again if there is nothing to return and time is left.
 *
 * <h2>Portability</h2>
 * With epoll and kqueue, a wait costs the same for ten registrations and for a hundred thousand; with poll(2) it is
 * linear in the number of descriptors. NIO behaves like the platform's selector and supports sockets only; when many
 * connections are ready, a few that are closed keep their descriptors until the next turn or until the poll is closed.
 * {@link #report()} says which backend is in use. Timeouts are rounded up to the resolution of the backend: nanoseconds
 * on newer Linux kernels, milliseconds elsewhere.
 */
public final class Poll implements AutoCloseable {
    // One class, because the seven steps of a poll and the control calls of other threads meet in one place: whether a
    // thread sleeps, and which one must wake it. The registrations are in Registry, and the software queue and the
    // timers have their own classes; what is left is the poll itself, waking, and the public methods with their
    // Javadoc.

    private static final String BACKEND_PROPERTY = "millrace.backend";
    private static final Duration DEFAULT_TICK = Duration.ofMillis(100);
    private static final int DELAY_SLOTS = 256;
    private static final long NEVER = Long.MAX_VALUE;
    /**
     * How many software sources with nothing to report one pass looks at, because taking in a delay takes a
     * microsecond.
     */
    static final int SILENT = 1_024;

    private static final VarHandle WAITS;

    static {
        try {
            WAITS = MethodHandles.lookup().findVarHandle(Poll.class, "waits", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
        PollAccess.set(new Loop());
    }

    private final Selector selector;
    private final BackendReport report;
    private final Runnable unsubscribe;

    private final WakeGate gate = new WakeGate();
    private final ReadinessQueue queue = new ReadinessQueue(this::wakeSleeper);
    /**
     * Not registered; it is pushed to make a sleeping poll check again, because a clock has jumped or a timer is new.
     */
    private final SoftNode nudge = new SoftNode();

    private final Registry registry;

    /** Delayed readiness. Used on the polling thread only. */
    private final TimerWheel<SoftNode> delays;

    private final AtomicReference<@Nullable Thread> poller = new AtomicReference<>();
    private final CountDownLatch released = new CountDownLatch(1);
    private volatile boolean wakeRequested;
    private volatile boolean stopRequested;

    /**
     * Alternates which of the two kinds of events gets the odd place of a small {@link Events}. Used on the polling
     * thread only.
     */
    private int turn;

    /** Written by the polling thread, read by any. */
    private long waits;

    private final AtomicLong wakes = new AtomicLong();

    /** Creates a poll on a selector, which then belongs to it. */
    Poll(Selector selector, BackendReport report, Clock clock, Duration tick) {
        this.selector = selector;
        this.report = report;
        this.delays = new TimerWheel<>(
                Durations.positiveNanos(tick, "the tick"), DELAY_SLOTS, KernelKey.MAX_INDEX, clock.nanoTime());
        this.registry = new Registry(selector, clock, queue, this::wakeSleeper);
        boolean bound = nudge.bind(queue);
        assert bound;
        this.unsubscribe = clock.subscribe(() -> nudge.set(Bits.READABLE));
    }

    /**
     * Opens a poll on the best backend of this machine, or on the one named by {@code -Dmillrace.backend=}.
     *
     * @return an open poll, which the caller must close
     * @throws IllegalArgumentException if there is no backend with that name
     * @throws IllegalStateException if the named backend cannot be opened here; there is no fallback to another one
     * @throws UncheckedIOException if the system refuses, for example because too many files are open
     */
    public static Poll open() {
        return builder().open();
    }

    /**
     * Returns a builder, to choose the backend, the clock or the tick.
     *
     * @return a builder with the defaults
     */
    public static Builder builder() {
        return new Builder();
    }

    // ---- Control: any thread ----

    /**
     * Registers a source. If it is ready already, the next poll reports it.
     *
     * @param source what to wait for
     * @param token returned with each event of the source; any value, and two sources may share one
     * @param interest the kinds of readiness to report
     * @param trigger when to report them
     * @throws IllegalStateException if the source is already registered, belongs to another poll, or is closed, or if
     *     this poll is closed
     * @throws IllegalArgumentException if this backend cannot watch such a source, or its descriptor is not open
     * @throws UncheckedIOException if the kernel refuses
     */
    public void register(Source source, long token, Interest interest, Trigger trigger) {
        registry.register(source.handle(), RegistrationTerms.of(token, interest, trigger), null);
    }

    /** Like {@link #register(Source, long, Interest, Trigger)}, with a sink that is told when the source is closed. */
    void register(Source source, long token, Interest interest, Trigger trigger, CloseObserver sink) {
        registry.register(source.handle(), RegistrationTerms.of(token, interest, trigger), sink);
    }

    /**
     * Replaces the token, interest and trigger of a source. All later events carry the new token, even one that was
     * pending under the old token. If the source is ready, the next poll reports it.
     *
     * @param source a source registered with this poll
     * @param token the new token
     * @param interest the new interest
     * @param trigger the new trigger
     * @throws IllegalStateException if the source is not registered with this poll; nothing is changed
     */
    public void reregister(Source source, long token, Interest interest, Trigger trigger) {
        registry.reregister(source.handle(), RegistrationTerms.of(token, interest, trigger));
    }

    /**
     * Ends a registration. Pending events are dropped, and no {@link Events} returns the source from now on, not even
     * one that was filled before. A handler that is running on another thread may finish.
     *
     * @param source a source registered with this poll
     * @throws IllegalStateException if the source is not registered with this poll; nothing is changed
     */
    public void deregister(Source source) {
        registry.deregister(source.handle());
    }

    // ---- Waking: any thread ----

    /** Wakes the poll if it is asleep, after work was published. */
    private void wakeSleeper() {
        if (gate.claimWake()) {
            wakes.incrementAndGet();
            selector.wake();
        }
    }

    /**
     * Makes the current poll return, with no events if there is nothing to report. If no poll is in progress, the next
     * one returns at once. Several wakes before that count as one.
     */
    public void wake() {
        wakeRequested = true;
        wakeSleeper();
    }

    // ---- Polling: one thread at a time ----

    /**
     * Waits until a source is ready, for as long as it takes.
     *
     * @param events cleared, then filled
     * @return the number of events; 0 only after {@link #wake}
     */
    public int poll(Events events) {
        return poll(events, null);
    }

    /**
     * Waits until a source is ready or the timeout has passed.
     *
     * @param events cleared, then filled
     * @param timeout the longest time to wait; null waits for ever, zero does not wait
     * @return the number of events; 0 if the timeout has passed, or after {@link #wake}
     * @throws IllegalStateException if another thread is polling, or if a virtual thread asks to wait
     * @throws ClosedPollException if the poll is closed, or is closed by another thread during the wait
     */
    public int poll(Events events, @Nullable Duration timeout) {
        Objects.requireNonNull(events, "events");
        long timeoutNanos = NEVER;
        if (timeout != null) {
            timeoutNanos = Durations.toNanos(timeout);
            if (timeoutNanos < 0) {
                throw new IllegalArgumentException("a timeout is not negative: " + timeout + "; null waits for ever");
            }
        }
        if (timeoutNanos != 0 && Thread.currentThread().isVirtual()) {
            throw new IllegalStateException("a virtual thread must not wait in a poll: it would hold its carrier;"
                    + " poll with timeout zero, or on a platform thread");
        }
        LeakTracker.sweep(); // before the poll is entered, so that a thread that closes it need not wait for a logger
        enter();
        try {
            events.clear(this);
            return pollUntil(events, timeoutNanos);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot wait on " + selector, e);
        } finally {
            leave();
        }
    }

    private int pollUntil(Events events, long timeoutNanos) throws IOException {
        boolean bounded = timeoutNanos != 0 && timeoutNanos != NEVER;
        long deadline = bounded ? registry.clock.nanoTime() + timeoutNanos : 0;
        long left = timeoutNanos;
        for (; ; ) {
            pass(events, left, null);
            if (takeWakeRequest() || !events.isEmpty()) {
                return events.size();
            }
            registry.requireOpen("poll");
            if (bounded) {
                left = deadline - registry.clock.nanoTime();
            }
            if (left <= 0) {
                return 0;
            }
        }
    }

    /**
     * The request is read before it is reset, even if there are events to return anyway: the read is what makes visible
     * what the waking thread did before its wake. A reset alone would lose the wake and the data with it.
     */
    private boolean takeWakeRequest() {
        boolean requested = wakeRequested;
        if (requested) {
            wakeRequested = false;
        }
        return requested;
    }

    /** Performs steps 1 to 6. */
    private void pass(Events events, long left, PollAccess.@Nullable PendingWork work) throws IOException {
        turn++;
        long untilTimer = takeSoftware();
        long wait = queue.isDrained() ? Math.min(left, untilTimer) : 0;
        int kernelRoom = events.capacity() - softShare(events);
        if (kernelRoom > 0) {
            readKernel(events, await(wait, kernelRoom, work), work != null);
        }
        if (wait != 0) {
            takeSoftware();
        }
        readSoftware(events);
        if (kernelRoom == 0 && events.isEmpty()) {
            // All software events were outside their interest, so the only place goes to the kernel's after all.
            readKernel(events, await(0, events.capacity(), work), work != null);
        }
    }

    /**
     * Returns how many places are reserved for software events if there are any: half of a small buffer, rounded down
     * and up in turn (mio-30).
     */
    private int softShare(Events events) {
        return queue.isDrained() ? 0 : (events.capacity() + (turn & 1)) >>> 1;
    }

    /** Sleeps in the kernel, if it still may after it has announced that: see {@link WakeGate}. */
    private int await(long waitNanos, int maxEvents, PollAccess.@Nullable PendingWork work) throws IOException {
        WAITS.setOpaque(this, waits + 1);
        if (waitNanos == 0) {
            return selector.await(0, maxEvents);
        }
        gate.fallAsleep();
        boolean pending =
                queue.hasPushed() || wakeRequested || registry.isClosed() || (work != null && work.isPending());
        try {
            return selector.await(pending ? 0 : waitNanos == NEVER ? -1 : waitNanos, maxEvents);
        } finally {
            gate.markAwake();
        }
    }

    /**
     * Reads the kernel's events. Events outside the interest are skipped by the cursor for a loop; for a caller of
     * {@link #poll}, they must not end the wait (mio-28).
     */
    private void readKernel(Events events, int found, boolean isLoop) {
        for (int i = 0; i < found; i++) {
            long key = selector.key(i);
            int ready = selector.readiness(i);
            if (isLoop || isVisible(key, ready)) {
                events.add(key, ready);
            }
        }
    }

    private boolean isVisible(long key, int ready) {
        Node node = registry.node(key);
        RegistrationTerms terms = node == null ? null : node.terms;
        if (node == null || terms == null) {
            return false;
        }
        if (terms.visible(ready) != 0) {
            return true;
        }
        muteIfHungUp(node, terms, ready);
        return false;
    }

    /**
     * A hang-up is reported even if it was not asked for and, with LEVEL, for ever. Any other event outside the
     * interest belongs to earlier terms.
     */
    void muteIfHungUp(Node node, RegistrationTerms terms, int ready) {
        if (node instanceof OsNode os && terms.trigger() == Bits.LEVEL && (ready & Bits.WRITE_CLOSED) != 0) {
            registry.mute(os, terms);
        }
    }

    /**
     * Takes the snapshot of the queue, and expires delays and timers into it.
     *
     * @return nanoseconds until the next of them, or {@link #NEVER}
     */
    private long takeSoftware() {
        queue.takeSnapshot();
        Timer<?>[] present = registry.timers();
        if (present.length == 0 && delays.isEmpty()) {
            return NEVER;
        }
        long now = registry.clock.nanoTime();
        // One step at most, as with timers; the rest follows in the next pass, which does not sleep before.
        if (delays.advance(now, Timer.STEP) > 0) {
            for (SoftNode node = delays.pollDue(); node != null; node = delays.pollDue()) {
                node.wheelKey = -1;
                scheduleDelay(node, now, true);
            }
        }
        long next = delays.nanosUntilNext(now);
        for (Timer<?> timer : present) {
            timer.expire(now);
            next = Math.min(next, timer.nanosUntilNext(now));
        }
        queue.takeSnapshot();
        return next;
    }

    /** Fires the delays of a node that are due, and puts the rest into the wheel, replacing what was there. */
    private void scheduleDelay(SoftNode node, long now, boolean enqueue) {
        long left = node.fireDue(now, enqueue);
        if (node.wheelKey >= 0) {
            delays.cancel(node.wheelKey);
            node.wheelKey = -1;
        }
        if (left >= 0) {
            node.wheelKey = delays.schedule(now, left, node);
        }
        if (left < 0 || !node.markWheeled()) {
            forgetDelay(node);
        }
    }

    private void forgetDelay(SoftNode node) {
        if (node.wheelKey >= 0) {
            delays.cancel(node.wheelKey);
            node.wheelKey = -1;
        }
        node.clearWheeled();
    }

    /**
     * Reports the queue's snapshot, as far as there is room; LEVEL nodes go behind what is pending, for the next poll.
     * Nodes with nothing to report take no room; at most {@value #SILENT} of them are handled, and the rest in the next
     * pass, which does not sleep before (end-5).
     */
    @SuppressWarnings("ReferenceEquality") // compares nodes and terms by identity on purpose
    private void readSoftware(Events events) {
        SoftNode firstRequeued = null;
        int room = events.room();
        for (int looked = 0; events.room() > 0 && looked < room + SILENT; looked++) {
            SoftNode node = queue.peek();
            if (node == null || node == firstRequeued) {
                return;
            }
            queue.take();
            // Clear QUEUED first, then read: see SoftNode.
            int word = node.takeQueued();
            if (SoftNode.hasDelay(word) && !SoftNode.isClosed(word)) {
                scheduleDelay(node, registry.clock.nanoTime(), false);
                word |= node.readiness(); // includes what was already due
            } else if (node.wheelKey >= 0) {
                forgetDelay(node); // cancelled, by an immediate set or by a close
            }
            if (SoftNode.isClosed(word)) {
                continue;
            }
            RegistrationTerms terms = node.terms;
            if (terms == null || terms == node.spent || terms.visible(word & Bits.ALL) == 0) {
                continue;
            }
            events.add(node.key(), word & Bits.ALL);
            if (terms.trigger() == Bits.ONESHOT) {
                node.spent = terms;
            } else if (terms.trigger() == Bits.LEVEL && node.markQueued()) {
                queue.requeue(node);
                if (firstRequeued == null) {
                    firstRequeued = node;
                }
            }
        }
    }

    /** Returns the registration that has this key now, or null. For {@link Events}. */
    @Nullable
    Node node(long key) {
        return registry.node(key);
    }

    private void enter() {
        if (!tryEnter()) {
            registry.requireOpen("poll");
            throw new IllegalStateException("cannot poll: " + poller.get() + " is polling; one thread at a time may");
        }
    }

    /**
     * Takes the place of the polling thread. Returns false if another thread has it. For one pass or, as an event loop
     * does, for all passes of a run.
     */
    private boolean tryEnter() {
        if (!poller.compareAndSet(null, Thread.currentThread())) {
            return false;
        }
        if (registry.isClosed()) {
            leave();
            throw new ClosedPollException("poll");
        }
        return true;
    }

    private void leave() {
        poller.set(null);
        if (registry.isClosed()) {
            releaseOnce();
        }
    }

    // ---- The loop of the RFC, a light shim ----

    /**
     * Polls until {@link #stop}, passing each event to the handler and calling its tick after each poll.
     *
     * @param handler called on this thread
     */
    public void run(PollHandler handler) {
        Events events = Events.withCapacity(1024);
        while (!stopRequested) {
            runOnce(handler, events, null);
        }
        stopRequested = false;
    }

    /**
     * Performs one iteration of {@link #run}, for a thread that drives the loop itself: polls once, passes each event
     * to the handler and calls its tick.
     *
     * @param handler called on this thread
     * @param events the buffer to use
     * @param timeout as in {@link #poll(Events, Duration)}
     * @return how many events were passed to the handler
     */
    public int runOnce(PollHandler handler, Events events, @Nullable Duration timeout) {
        Objects.requireNonNull(handler, "handler");
        poll(events, timeout);
        int handled = 0;
        while (events.advance()) {
            handler.ready(this, events.token(), events.readiness());
            handled++;
        }
        handler.tick(this);
        return handled;
    }

    /**
     * Makes {@link #run} return after its current iteration. If {@code run} has not started yet, it returns before its
     * first. Any thread may call this.
     */
    public void stop() {
        stopRequested = true;
        wake();
    }

    // ---- Properties ----

    /**
     * Returns the backend's name.
     *
     * @return {@code epoll}, {@code kqueue}, {@code poll} or {@code nio}
     */
    public String backend() {
        return selector.name();
    }

    /**
     * Returns which backend was chosen, and why any better one was not.
     *
     * @return the report made when the poll was opened
     */
    public BackendReport report() {
        return report;
    }

    /**
     * Returns the clock that measures timeouts and delays.
     *
     * @return the clock given to the builder, or the system clock
     */
    public Clock clock() {
        return registry.clock;
    }

    /**
     * Returns how often the poll has called the kernel, to wait or to look for events.
     *
     * @return a count since it was opened
     */
    public long waits() {
        return (long) WAITS.getOpaque(this);
    }

    /**
     * Returns how often a system call was made to wake the poll while it was asleep.
     *
     * @return a count since it was opened
     */
    public long wakes() {
        return wakes.get();
    }

    /**
     * Returns how many sources are registered.
     *
     * @return the count
     */
    public int size() {
        return registry.size();
    }

    // ---- Closing ----

    /**
     * Ends every registration and closes the poll's kernel objects. The sources stay open. If another thread is waiting
     * in a poll, that poll ends with a {@link ClosedPollException}, and this method returns after that thread has left.
     * Idempotent; any thread may call it.
     */
    @Override
    public void close() {
        registry.close();
        Thread polling = poller.get();
        if (polling == null) {
            releaseOnce();
        } else {
            wakeSleeper();
        }
        awaitRelease();
    }

    /**
     * Called by the thread that gets the place of the polling thread after {@code closed} was set: either a closer that
     * found no polling thread, or the polling thread on its way out. After that, no thread can enter.
     */
    private void releaseOnce() {
        if (!poller.compareAndSet(null, Thread.currentThread())) {
            return; // another thread is polling, and releases on its way out
        }
        if (released.getCount() == 0) {
            poller.set(null);
            return;
        }
        try {
            unsubscribe.run();
            registry.release();
            queue.close();
            delays.clear();
        } finally {
            released.countDown();
            poller.set(null);
        }
    }

    private void awaitRelease() {
        boolean interrupted = false;
        for (; ; ) {
            try {
                released.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public String toString() {
        return "poll on " + selector.name() + (registry.isClosed() ? ", closed" : ", " + size() + " sources") + ", "
                + waits() + " waits, " + wakes + " wake-ups";
    }

    /** What an event loop sees of a poll. */
    private static final class Loop extends PollAccess {
        /**
         * The terms of nearly all sources of loops, shared so that they stay in the cache. For an edge, the identity of
         * the terms does not matter.
         */
        private static final RegistrationTerms USUAL = RegistrationTerms.of(0, Interest.READ_WRITE, Trigger.EDGE);

        @Override
        public boolean tryEnter(Poll poll) {
            return poll.tryEnter();
        }

        @Override
        public void leave(Poll poll) {
            poll.leave();
        }

        @Override
        @SuppressWarnings("ReferenceEquality") // threads are compared by identity
        public int pollOnce(Poll poll, Events events, long timeoutNanos, PendingWork work) {
            assert poll.poller.get() == Thread.currentThread() : "the loop has not entered " + poll;
            LeakTracker.sweep();
            try {
                events.clear(poll);
                poll.pass(events, timeoutNanos, work);
                poll.takeWakeRequest();
                return events.size();
            } catch (IOException e) {
                throw new UncheckedIOException("cannot wait on " + poll.selector, e);
            }
        }

        @Override
        public void wakeSleeper(Poll poll) {
            poll.wakeSleeper();
        }

        @Override
        public void register(Poll poll, Source source, long token, Object sink, Interest interest, Trigger trigger) {
            boolean usual = token == 0 && trigger == Trigger.EDGE && interest.bits() == USUAL.interest();
            poll.registry.register(
                    source.handle(), usual ? USUAL : RegistrationTerms.of(token, interest, trigger), sink);
        }

        @Override
        public @Nullable Object sink(Events events) {
            return events.sink();
        }

        @Override
        public int bits(Events events) {
            return events.bits();
        }

        @Override
        public Readiness visible(int bits, Interest interest) {
            return Readiness.of(Bits.visible(bits, interest.bits()));
        }

        @Override
        public boolean emulatesTriggers(Poll poll) {
            return poll.selector.emulatesTriggers();
        }

        @Override
        public void forEachSink(Poll poll, Consumer<Object> each) {
            poll.registry.forEachSink(each);
        }

        @Override
        public boolean isTimer(Source source) {
            return source.handle() instanceof Registration registration && registration.node.timer != null;
        }

        @Override
        public boolean takesChannels(Poll poll) {
            return poll.selector.family() == Family.CHANNEL;
        }

        @Override
        public void describe(Poll poll, Consumer<String> each) {
            poll.registry.describe(each);
        }
    }

    /** Collects the settings of a poll. */
    public static final class Builder {
        private @Nullable String backend;
        private Clock clock = Clock.system();
        private Duration tick = DEFAULT_TICK;

        private Builder() {}

        /**
         * Requires a particular backend.
         *
         * @param name {@code epoll}, {@code kqueue}, {@code poll}, {@code nio}, or one found by the service loader
         * @return this
         */
        public Builder backend(String name) {
            this.backend = Objects.requireNonNull(name, "name");
            return this;
        }

        /**
         * Sets the clock for timeouts and delays.
         *
         * @param clock the system's clock by default
         * @return this
         */
        public Builder clock(Clock clock) {
            this.clock = Objects.requireNonNull(clock, "clock");
            return this;
        }

        /**
         * Sets the tick of delayed readiness.
         *
         * @param tick positive; 100 ms by default
         * @return this
         */
        public Builder tick(Duration tick) {
            Durations.positiveNanos(tick, "the tick");
            this.tick = tick;
            return this;
        }

        /**
         * Opens the poll.
         *
         * @return an open poll, which the caller must close
         */
        public Poll open() {
            String forced = backend != null ? backend : System.getProperty(BACKEND_PROPERTY);
            String forcedBy = backend != null ? "the builder" : "-D" + BACKEND_PROPERTY;
            Backends.Opened opened;
            try {
                opened = Backends.open(forced, forcedBy);
            } catch (IOException e) {
                throw new UncheckedIOException("cannot open a poll", e);
            }
            BackendReport report = new BackendReport(
                    opened.selector().name(),
                    forced == null ? "the best that opens here" : "asked for by " + forcedBy,
                    opened.remark(),
                    opened.passedOver().stream()
                            .map(other -> new BackendReport.PassedOver(other.name(), other.reason(), other.remedy()))
                            .toList());
            return new Poll(opened.selector(), report, clock, tick);
        }
    }
}
