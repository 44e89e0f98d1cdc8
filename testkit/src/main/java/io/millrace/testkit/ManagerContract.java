package io.millrace.testkit;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.engine.AlarmCallback;
import io.millrace.engine.EventManager;
import io.millrace.engine.Priority;
import io.millrace.net.Net;
import io.millrace.net.Pipe;
import io.millrace.poll.Clock;
import io.millrace.poll.ManualClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * What all suites for an {@link EventManager} have in common: an open manager, and helpers for the tests.
 *
 * <p>No test waits for time to pass. What must happen is awaited with {@link Await#DEADLINE}. What must not happen is
 * checked after the manager has made some turns; so an incorrect manager that is slow may pass, but no correct one
 * fails.
 *
 * @param <M> the interface of the manager that the suite needs
 */
public abstract class ManagerContract<M extends EventManager> {
    /** The tick of a timer wheel: an alarm may be late by this much on a clock that the test moves. */
    static final Duration TICK = Duration.ofMillis(1);
    /** The time of day at which a test's wall clock starts. */
    static final Instant NOON = Instant.parse("2030-06-01T12:00:00Z");

    static final List<Priority> CLASSES = List.of(Priority.values());
    static final Duration FAR = Duration.ofDays(365);

    private static final ThreadLocal<Boolean> HANDING_OVER = ThreadLocal.withInitial(() -> false);

    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    /** Open during each test, and closed after it. */
    protected M manager;

    /** For the suites of this package. */
    ManagerContract() {}

    /**
     * Opens a manager on the system's clock.
     *
     * @return a new manager for each call
     */
    protected abstract M open();

    /**
     * Opens a manager on clocks that the test moves. Without it, the tests that need one are aborted.
     *
     * @param clock what its {@link EventManager#clock} must return
     * @param wallClock what its {@link EventManager#wallClock} must return
     * @return a manager, or empty if this one cannot be given clocks
     */
    protected Optional<M> open(Clock clock, InstantSource wallClock) {
        return Optional.empty();
    }

    /**
     * Returns whether work runs one item at a time, in turns, and within a turn strictly by priority, as in one
     * reactor. Without it, the tests of that order are aborted.
     *
     * @return true for a manager with one thread that keeps the order that {@link Priority} describes
     */
    protected boolean strictPriorities() {
        return false;
    }

    /**
     * Returns the factory for sockets and pipes of the family that the manager can watch.
     *
     * @return the factory
     */
    protected Net net() {
        return Net.standard();
    }

    /** Opens {@link #manager}. */
    @BeforeEach
    protected final void openManager() {
        manager = closing(open());
    }

    /**
     * Closes everything. If a manager cannot be closed, the test fails instead of hanging.
     *
     * @throws Exception if something cannot be closed
     */
    @AfterEach
    protected final void closeAll() throws Exception {
        while (!open.isEmpty()) {
            AutoCloseable next = open.pop();
            Background.run(next::close).result();
        }
    }

    /**
     * Closes a resource after the test; the last one is closed first.
     *
     * @param resource what to close
     * @param <T> its type
     * @return the resource
     */
    protected final <T extends AutoCloseable> T closing(T resource) {
        open.push(resource);
        return resource;
    }

    final M openOn(ManualClock clock) {
        return openOn(clock, InstantSource.fixed(NOON));
    }

    final M openOn(ManualClock clock, InstantSource wallClock) {
        Optional<M> opened = open(clock, wallClock);
        assumeTrue(opened.isPresent(), "this manager cannot be given a clock");
        return closing(opened.orElseThrow());
    }

    final void assumeStrictPriorities() {
        assumeTrue(strictPriorities(), "this manager does not keep the order of priorities");
    }

    final SocketPair socketPair() {
        return closing(SocketPair.connect(net()));
    }

    final Pipe pipe() {
        try {
            return closing(net().pipe());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // ---- Helpers for the tests ----

    /** Returns when the manager has made some turns: if one thread serves everything, what was due before has run. */
    static void turns(EventManager manager) {
        for (int i = 0; i < 3; i++) {
            CountDownLatch ran = new CountDownLatch(1);
            manager.run(ran::countDown, Priority.LOW);
            await("a task of low priority runs", ran);
        }
    }

    static void await(String what, CountDownLatch latch) {
        try {
            if (!latch.await(Await.DEADLINE.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new AssertionError("not within " + Await.DEADLINE.toSeconds() + " s: " + what);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting: " + what, e);
        }
    }

    /** Makes a call that submits a callback; {@link #isOutside} tells that callback whether it runs inside the call. */
    static void handOver(Runnable call) {
        boolean before = HANDING_OVER.get();
        HANDING_OVER.set(true);
        try {
            call.run();
        } finally {
            HANDING_OVER.set(before);
        }
    }

    /** Returns whether the caller does not run inside {@link #handOver} on its own thread. */
    static boolean isOutside() {
        return !HANDING_OVER.get();
    }

    static int stackDepth() {
        return StackWalker.getInstance().walk(frames -> (int) frames.count());
    }

    /** Returns the used heap of this JVM, after a garbage collection. */
    static long usedBytes() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    /** A callback that blocks until the test lets it continue. */
    static final class Gate implements Runnable, AlarmCallback {
        private final CountDownLatch entered = new CountDownLatch(1);
        private final CountDownLatch opened = new CountDownLatch(1);

        @Override
        public void run() {
            entered.countDown();
            ManagerContract.await("the gate is opened", opened);
        }

        @Override
        public void onAlarm(boolean fired) {
            run();
        }

        void awaitEntered() {
            ManagerContract.await("the callback begins", entered);
        }

        void open() {
            opened.countDown();
        }
    }

    /** An alarm callback that records how it was called. */
    static final class Bell implements AlarmCallback {
        final AtomicInteger fired = new AtomicInteger();
        final AtomicInteger stopped = new AtomicInteger();
        final AtomicReference<@Nullable Thread> thread = new AtomicReference<>();
        final List<String> wrong = new CopyOnWriteArrayList<>();
        private final EventManager on;

        Bell(EventManager on) {
            this.on = on;
        }

        @Override
        public void onAlarm(boolean hasFired) {
            thread.set(Thread.currentThread());
            if (hasFired && !on.inManager()) {
                wrong.add("fired outside the manager, on " + Thread.currentThread());
            }
            if (hasFired && !isOutside()) {
                wrong.add("fired inside the call that scheduled it");
            }
            (hasFired ? fired : stopped).incrementAndGet();
        }

        int calls() {
            return fired.get() + stopped.get();
        }

        void awaitFired(int times) {
            Await.until("the alarm fires " + times + " times, not " + fired, () -> fired.get() >= times);
        }
    }
}
