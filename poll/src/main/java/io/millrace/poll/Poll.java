package io.millrace.poll;

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
 * becomes ready, and then not again until it was drained or more arrives. So read, write or accept until the call
 * answers would-block (a timer or a channel: null); otherwise what you leave behind may wait for ever. With {@link
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
    // One class, because the seven steps of a turn and the control calls of other threads meet in one place: whether
    // somebody sleeps, and who must wake it. The registrations are in Registry, the software queue and the
    // timers have classes of their own; what is left is the turn, the wake-up and the public face with its Javadoc.

    private static final String BACKEND_PROPERTY = "millrace.backend";
    private static final Duration DEFAULT_TICK = Duration.ofMillis(100);
    private static final int DELAY_SLOTS = 256;
    private static final long NEVER = Long.MAX_VALUE;
    /** How many sources in software that have nothing to say a pass looks at: to take in a delay takes a microsecond. */
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
    /** Registered nowhere, pushed to make a sleeping poll look again: at a clock that jumped, at a timer that is new. */
    private final SoftNode nudge = new SoftNode();

    private final Registry registry;

    /** Delayed readiness. Poll thread only. */
    private final TimerWheel<SoftNode> delays;

    private final AtomicReference<@Nullable Thread> poller = new AtomicReference<>();
    private final CountDownLatch released = new CountDownLatch(1);
    private volatile boolean wakeRequested;
    private volatile boolean stopRequested;

    /** Alternates which of the two kinds of event gets the odd place of a small {@link Events}. Poll thread only. */
    private int turn;

    /** Written by the poll thread, read by anyone. */
    private long waits;

    private final AtomicLong wakes = new AtomicLong();

    /** Over a selector of the caller's choice, which the poll then owns. */
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

    /** As {@link #register(Source, long, Interest, Trigger)}, by somebody who wants to know when the source is closed. */
    void register(Source source, long token, Interest interest, Trigger trigger, SourceOwner owner) {
        registry.register(source.handle(), RegistrationTerms.of(token, interest, trigger), owner);
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

    /** After work was published: wakes the poll if it sleeps, and only then. */
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
        LeakTracker.sweep(); // before it is entered: whoever closes the poll does not wait for a log
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
     * Read before it is reset, also if there are events to return anyway: the read is what makes visible whatever the waker did before its wake. A
     * reset alone would swallow the wake, and its data with it.
     */
    private boolean takeWakeRequest() {
        boolean requested = wakeRequested;
        if (requested) {
            wakeRequested = false;
        }
        return requested;
    }

    /** Steps 1 to 6. */
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
            // All that software had was outside its interest: the only place is the kernel's after all.
            readKernel(events, await(0, events.capacity(), work), work != null);
        }
    }

    /** Places kept for software events if there are any: half of a small buffer, rounded down and up in turn (mio-30). */
    private int softShare(Events events) {
        return queue.isDrained() ? 0 : (events.capacity() + (turn & 1)) >>> 1;
    }

    /** Sleeps in the kernel, if it still may after it has said so: see {@link WakeGate}. */
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
            gate.awake();
        }
    }

    /** A loop skips what is invisible when it comes to it; whoever called {@link #poll} goes on waiting instead (mio-28). */
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
        invisible(node, terms, ready);
        return false;
    }

    /** A hang-up comes unasked, and a level one for ever. Anything else outside the interest is an event of former terms. */
    void invisible(Node node, RegistrationTerms terms, int ready) {
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
        // At most a step, like the timers: the rest in the next pass, which does not sleep before it.
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

    /** Fires what is due of a node's delays and puts the rest into the wheel, in the place of what was there. */
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
     * Hands out the queue's snapshot, as far as there is room; LEVEL nodes go behind what is pending, for the next poll. Nodes that have nothing to say take no room: of those at most {@value #SILENT}, and
     * the rest in the next pass, which does not sleep before it (end-5).
     */
    @SuppressWarnings("ReferenceEquality") // nodes and terms are compared by identity: it is what is meant
    private void readSoftware(Events events) {
        SoftNode firstRequeued = null;
        int room = events.room();
        for (int looked = 0; events.room() > 0 && looked < room + SILENT; looked++) {
            SoftNode node = queue.peek();
            if (node == null || node == firstRequeued) {
                return;
            }
            queue.take();
            // Off first, then look: see SoftNode.
            int word = node.takeQueued();
            if (SoftNode.hasDelay(word) && !SoftNode.isClosed(word)) {
                scheduleDelay(node, registry.clock.nanoTime(), false);
                word |= node.readiness(); // with what was due already
            } else if (node.wheelKey >= 0) {
                forgetDelay(node); // cancelled, by an immediate set or by its end
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

    /** The registration that has this key now, or null if it is gone; for {@link Events}. */
    @Nullable
    Node node(long key) {
        return registry.node(key);
    }

    private void enter() {
        Thread current = Thread.currentThread();
        if (!poller.compareAndSet(null, current)) {
            registry.requireOpen("poll");
            throw new IllegalStateException("cannot poll: " + poller.get() + " is polling; one thread at a time may");
        }
        if (registry.isClosed()) {
            leave();
            throw new ClosedPollException("poll");
        }
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

    // ---- Looking at it ----

    /**
     * The backend's name.
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
     * By whoever gets the poller's place after {@code closed} was set: a closer that found no poller, or the poller on its way out.
     * After that, no one enters any more.
     */
    private void releaseOnce() {
        if (!poller.compareAndSet(null, Thread.currentThread())) {
            return; // somebody else is in: it releases on its way out
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

    /** What an event loop sees of it. */
    private static final class Loop extends PollAccess {
        /** Of nearly all that loops register: one object, which stays near. Nobody tells an edge's terms from equal ones. */
        private static final RegistrationTerms USUAL = RegistrationTerms.of(0, Interest.READ_WRITE, Trigger.EDGE);

        @Override
        public int pollOnce(Poll poll, Events events, long timeoutNanos, PendingWork work) {
            LeakTracker.sweep();
            poll.enter();
            try {
                events.clear(poll);
                poll.pass(events, timeoutNanos, work);
                poll.takeWakeRequest();
                return events.size();
            } catch (IOException e) {
                throw new UncheckedIOException("cannot wait on " + poll.selector, e);
            } finally {
                poll.leave();
            }
        }

        @Override
        public void wakeSleeper(Poll poll) {
            poll.wakeSleeper();
        }

        @Override
        public void register(Poll poll, Source source, long token, Object owner, Interest interest, Trigger trigger) {
            boolean usual = token == 0 && trigger == Trigger.EDGE && interest.bits() == USUAL.interest();
            poll.registry.register(
                    source.handle(), usual ? USUAL : RegistrationTerms.of(token, interest, trigger), owner);
        }

        @Override
        public @Nullable Object owner(Events events) {
            return events.owner();
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
        public void owners(Poll poll, Consumer<Object> each) {
            poll.registry.owners(each);
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

    /** Settings of a poll that has yet to be opened. */
    public static final class Builder {
        private @Nullable String backend;
        private Clock clock = Clock.system();
        private Duration tick = DEFAULT_TICK;

        private Builder() {}

        /**
         * Asks for one backend and no other.
         *
         * @param name {@code epoll}, {@code kqueue}, {@code poll}, {@code nio}, or one found by the service loader
         * @return this
         */
        public Builder backend(String name) {
            this.backend = Objects.requireNonNull(name, "name");
            return this;
        }

        /**
         * The clock for timeouts and delays.
         *
         * @param clock the system's by default
         * @return this
         */
        public Builder clock(Clock clock) {
            this.clock = Objects.requireNonNull(clock, "clock");
            return this;
        }

        /**
         * The tick of delayed readiness.
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
         * Opens it.
         *
         * @return an open poll, the caller's to close
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
