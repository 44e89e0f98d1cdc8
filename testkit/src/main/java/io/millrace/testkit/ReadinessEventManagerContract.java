package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.engine.AlarmKey;
import io.millrace.engine.CancelResult;
import io.millrace.engine.NotifyOutcome;
import io.millrace.engine.Priority;
import io.millrace.engine.ReadinessDescriptor;
import io.millrace.engine.ReadinessEventManager;
import io.millrace.net.Io;
import io.millrace.net.Pipe;
import io.millrace.poll.ManualClock;
import io.millrace.poll.Source;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * What every {@link ReadinessEventManager} guarantees for its descriptors: one callback for each notify call, on the
 * descriptor's thread. It must pass {@link EventManagerContract}, {@link AlarmContract} and {@link EndingContract} as
 * well.
 */
@DisplayName("Readiness descriptors")
public abstract class ReadinessEventManagerContract extends ManagerContract<ReadinessEventManager> {
    private static final int REARMS = Boolean.getBoolean("millrace.soak") ? 1_000_000 : 100_000;

    /**
     * Ends of pipes whose numbers a descriptor has closed. Their objects must not close these numbers again, which may
     * have been reused by then, so they must not be garbage-collected either.
     */
    private static final List<Object> CLOSED_BY_NUMBER = new ArrayList<>();

    /** One of the three things that a descriptor can report. */
    private enum Direction {
        READ,
        WRITE,
        ERROR;

        void ask(ReadinessDescriptor descriptor, Runnable callback) {
            switch (this) {
                case READ -> descriptor.notifyWhenReadable(callback);
                case WRITE -> descriptor.notifyWhenWritable(callback);
                case ERROR -> descriptor.notifyWhenHasError(callback);
            }
        }

        void force(ReadinessDescriptor descriptor) {
            switch (this) {
                case READ -> descriptor.forceReadable();
                case WRITE -> descriptor.forceWritable();
                case ERROR -> descriptor.forceHasError();
            }
        }

        void clear(ReadinessDescriptor descriptor) {
            switch (this) {
                case READ -> descriptor.clearReadable();
                case WRITE -> descriptor.clearWritable();
                case ERROR -> descriptor.clearHasError();
            }
        }

        void prioritise(ReadinessDescriptor descriptor, Priority priority) {
            switch (this) {
                case READ -> descriptor.setReadPriority(priority);
                case WRITE -> descriptor.setWritePriority(priority);
                case ERROR -> descriptor.setErrorPriority(priority);
            }
        }
    }

    /** Counts its calls, and how many were wrong: inside the call that asked, or outside the manager. */
    private final class Told implements Runnable, Consumer<NotifyOutcome> {
        final AtomicInteger times = new AtomicInteger();
        final AtomicInteger wrong = new AtomicInteger();
        final Set<Thread> threads = ConcurrentHashMap.newKeySet();
        final ConcurrentLinkedQueue<NotifyOutcome> outcomes = new ConcurrentLinkedQueue<>();

        @Override
        public void run() {
            threads.add(Thread.currentThread());
            if (!isOutside() || !manager.inManager()) {
                wrong.incrementAndGet();
            }
            times.incrementAndGet();
        }

        @Override
        public void accept(NotifyOutcome outcome) {
            outcomes.add(outcome);
            threads.add(Thread.currentThread());
            times.incrementAndGet();
        }

        void await(int calls) {
            Await.until("told " + calls + " times", () -> times.get() >= calls);
        }
    }

    /** For subclasses. */
    protected ReadinessEventManagerContract() {}

    /**
     * Returns whether {@link ReadinessEventManager#register(int)} works here, on this system and with this family of
     * sockets.
     *
     * @return false if it throws {@link UnsupportedOperationException}
     */
    protected boolean hasNumbers() {
        return true;
    }

    /**
     * Returns whether a reset connection is reported as an error, and not only as readable and writable.
     *
     * @return true if the system and the manager report it
     */
    protected boolean tellsErrors() {
        return true;
    }

    private ReadinessDescriptor register(Source source) {
        return closing(manager.register(source));
    }

    private static void ask(ReadinessDescriptor descriptor, Direction direction, Runnable callback) {
        handOver(() -> direction.ask(descriptor, callback));
    }

    /** Returns when the descriptor's thread has served others, so that what was due before has run. */
    private void turnsOf(ReadinessDescriptor descriptor, Direction unused) {
        for (int i = 0; i < 3; i++) {
            Told told = new Told();
            unused.ask(descriptor, told);
            unused.force(descriptor);
            told.await(1);
        }
        turns(manager);
    }

    // ---- Asking ----

    @Test
    @DisplayName("grpc-9: asked, then ready: the callback runs once, on the manager and outside the call")
    void askedThenReady() {
        Pipe pipe = pipe();
        ReadinessDescriptor descriptor = register(pipe.source());
        Told told = new Told();
        ask(descriptor, Direction.READ, told);
        turnsOf(descriptor, Direction.ERROR);
        assertThat(told.times).hasValue(0);

        Bytes.write(pipe.sink(), 1);
        told.await(1);
        Bytes.write(pipe.sink(), 1);
        turnsOf(descriptor, Direction.ERROR);
        assertThat(told.times).as("one-shot").hasValue(1);
        assertThat(told.wrong).hasValue(0);
    }

    @Test
    @DisplayName("grpc-9: ready, then asked: soon, and never inside the call, not on the descriptor's thread either")
    void readyThenAsked() {
        Pipe before = pipe();
        Bytes.write(before.sink(), 1);
        Told told = new Told();
        ask(register(before.source()), Direction.READ, told);
        told.await(1);

        Pipe after = pipe();
        ReadinessDescriptor descriptor = register(after.source());
        Bytes.write(after.sink(), 1);
        turnsOf(descriptor, Direction.ERROR);
        ask(descriptor, Direction.READ, told);
        told.await(2);

        descriptor.forceReadable();
        descriptor.notifyWhenHasError(() -> ask(descriptor, Direction.READ, told));
        descriptor.forceHasError();
        told.await(3);
        assertThat(told.wrong).hasValue(0);
    }

    @Test
    @DisplayName("grpc-9: read to the end and asked again, it tells of what comes then, a hundred times")
    void askedAgainAndAgain() {
        Pipe pipe = pipe();
        ReadinessDescriptor descriptor = register(pipe.source());
        for (int i = 1; i <= 100; i++) {
            Told told = new Told();
            ask(descriptor, Direction.READ, told);
            Bytes.write(pipe.sink(), 10);
            told.await(1);
            Await.until("the bytes are there", () -> Bytes.drain(pipe.source()) == 10);
        }
    }

    @Test
    @DisplayName("grpc-9: a socket is writable at once; a full one when there is room again")
    void writable() {
        SocketPair pair = socketPair();
        ReadinessDescriptor descriptor = register(pair.left());
        Told told = new Told();
        ask(descriptor, Direction.WRITE, told);
        told.await(1);

        // Before the would-block, not after it: room that becomes available after it is what the notification is about.
        descriptor.clearWritable();
        Await.until("it stays full", () -> Bytes.fill(pair.left()) == 0);
        ask(descriptor, Direction.WRITE, told);
        Await.until("there is room", () -> Bytes.drain(pair.right()) >= 0 && told.times.get() == 2);
        assertThat(told.wrong).hasValue(0);
    }

    @Test
    @DisplayName("grpc-9: a second question while one is pending is refused, and the first is answered")
    void aSecondQuestionIsRefused() {
        ReadinessDescriptor descriptor = register(pipe().source());
        long far = manager.clock().nanoTime() + FAR.toNanos();
        Told first = new Told();
        Told second = new Told();
        for (Direction direction : List.of(Direction.READ, Direction.ERROR)) {
            ask(descriptor, direction, first);
            assertThatThrownBy(() -> direction.ask(descriptor, second))
                    .as(direction.name())
                    .isInstanceOf(IllegalStateException.class);
        }
        assertThatThrownBy(() -> descriptor.notifyWhenReadableOrTimeout(second, far))
                .isInstanceOf(IllegalStateException.class);
        descriptor.forceReadable();
        descriptor.forceHasError();
        first.await(2);

        descriptor.notifyWhenReadableOrTimeout(first, far);
        assertThatThrownBy(() -> descriptor.notifyWhenReadable(second)).isInstanceOf(IllegalStateException.class);
        descriptor.forceReadable();
        first.await(3);
        assertThat(second.times).hasValue(0);
    }

    @Test
    @DisplayName("grpc-9: every callback of a descriptor runs on one thread, one at a time")
    void oneThreadPerDescriptor() {
        ReadinessDescriptor descriptor = register(pipe().source());
        Told told = new Told();
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger together = new AtomicInteger();
        List<Background<Boolean>> threads = new ArrayList<>();
        for (Direction direction : Direction.values()) {
            threads.add(Background.run(() -> {
                for (int i = 0; i < 500; i++) {
                    Told mine = new Told();
                    ask(descriptor, direction, () -> {
                        if (inside.incrementAndGet() > 1) {
                            together.incrementAndGet();
                        }
                        told.run();
                        inside.decrementAndGet();
                        mine.run();
                    });
                    direction.force(descriptor);
                    mine.await(1);
                }
            }));
        }
        threads.forEach(Background::result);
        assertThat(told.times).hasValueGreaterThanOrEqualTo(1_500);
        assertThat(told.threads).hasSize(1);
        assertThat(together).hasValue(0);
        assertThat(told.wrong).hasValue(0);
    }

    @Test
    @DisplayName("grpc-9: asked again from the callback, 100,000 times, it needs the stack of one")
    void askedAgainFromTheCallback() {
        ReadinessDescriptor descriptor = register(pipe().source());
        AtomicInteger left = new AtomicInteger(REARMS);
        AtomicInteger deepest = new AtomicInteger();
        Runnable again = new Runnable() {
            @Override
            public void run() {
                int now = left.decrementAndGet();
                if (now % 1_000 == 0) {
                    deepest.accumulateAndGet(stackDepth(), Math::max);
                }
                if (now > 0 && now % 2 == 0) {
                    descriptor.forceReadable();
                    descriptor.notifyWhenReadable(this);
                } else if (now > 0) {
                    descriptor.notifyWhenReadable(this);
                    descriptor.forceReadable();
                }
            }
        };
        descriptor.notifyWhenReadable(again);
        descriptor.forceReadable();

        for (int part = 9; part >= 0; part--) {
            int some = REARMS / 10 * part;
            Await.until("there are " + some + " left", () -> left.get() <= some);
        }
        assertThat(deepest.get()).isLessThan(200);
    }

    @Test
    @DisplayName("grpc-9: of many descriptors each tells of its own")
    void manyDescriptors() {
        int count = 100;
        List<Pipe> pipes = new ArrayList<>();
        List<Told> told = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            pipes.add(pipe());
            told.add(new Told());
            ask(register(pipes.get(i).source()), Direction.READ, told.get(i));
        }
        for (int i = 0; i < count; i += 2) {
            Bytes.write(pipes.get(i).sink(), 1);
        }
        for (int i = 0; i < count; i += 2) {
            told.get(i).await(1);
        }
        turns(manager);
        for (int i = 0; i < count; i++) {
            assertThat(told.get(i).times).as("descriptor " + i).hasValue(i % 2 == 0 ? 1 : 0);
        }
    }

    @Test
    @DisplayName("grpc-9: a peer that goes makes it readable; one that resets an error too, where that is told")
    void hangUpAndReset() {
        SocketPair gone = socketPair();
        Told told = new Told();
        ask(register(gone.left()), Direction.READ, told);
        gone.right().close();
        told.await(1);
        assertThat(Bytes.readOnce(gone.left(), 1)).isEqualTo(Io.EOF);

        SocketPair reset = socketPair();
        ReadinessDescriptor descriptor = register(reset.left());
        ask(descriptor, Direction.READ, told);
        Told error = new Told();
        ask(descriptor, Direction.ERROR, error);
        reset.resetRight();
        told.await(2);
        if (tellsErrors()) {
            error.await(1);
        }
        assertThat(told.wrong).hasValue(0);
    }

    @Test
    @DisplayName("grpc-9: a source in software is watched like any other")
    void aSourceInSoftware() {
        UserSource mailbox = closing(new UserSource());
        ReadinessDescriptor descriptor = register(mailbox);
        assertThat(descriptor.fd()).isEqualTo(-1);
        Told told = new Told();
        ask(descriptor, Direction.READ, told);
        turnsOf(descriptor, Direction.ERROR);
        assertThat(told.times).hasValue(0);

        mailbox.put("a letter");
        told.await(1);
        assertThat(mailbox.take()).isEqualTo("a letter");
        assertThat(told.wrong).hasValue(0);
    }

    // ---- With a timeout ----

    @Test
    @DisplayName("grpc-10: what is ready in time BECAME_READY, and its timeout is void")
    void readyInTime() {
        ManualClock clock = new ManualClock();
        ReadinessEventManager slow = openOn(clock);
        Pipe pipe = pipe();
        ReadinessDescriptor descriptor = closing(slow.register(pipe.source()));
        Told told = new Told();
        long deadline = clock.nanoTime() + Duration.ofSeconds(1).toNanos();
        descriptor.notifyWhenReadableOrTimeout(told, deadline);
        Bytes.write(pipe.sink(), 1);
        told.await(1);

        clock.advance(Duration.ofSeconds(2));
        turns(slow);
        assertThat(told.outcomes).containsExactly(NotifyOutcome.BECAME_READY);
    }

    @Test
    @DisplayName("grpc-10: what is not ready in time TIMED_OUT, not early, and may be asked again")
    void notReadyInTime() {
        ManualClock clock = new ManualClock();
        ReadinessEventManager slow = openOn(clock);
        Pipe pipe = pipe();
        Await.until("it stays full", () -> Bytes.fill(pipe.sink()) == 0);
        ReadinessDescriptor reader = closing(slow.register(pipe().source()));
        ReadinessDescriptor writer = closing(slow.register(pipe.sink()));
        writer.clearWritable();
        Told told = new Told();
        long second = Duration.ofSeconds(1).toNanos();
        reader.notifyWhenReadableOrTimeout(told, second);
        writer.notifyWhenWritableOrTimeout(told, second);
        clock.advance(Duration.ofNanos(second - 1));
        turns(slow);
        assertThat(told.times).as("a nanosecond is missing").hasValue(0);

        clock.advance(TICK.plusNanos(1));
        told.await(2);
        assertThat(told.outcomes).containsOnly(NotifyOutcome.TIMED_OUT);
        reader.notifyWhenReadableOrTimeout(told, 3 * second);
        reader.forceReadable();
        told.await(3);
        assertThat(told.outcomes).last().isEqualTo(NotifyOutcome.BECAME_READY);
    }

    @Test
    @DisplayName("grpc-10: a timeout that has passed is told soon, and not inside the call")
    void aPastTimeout() {
        ReadinessDescriptor descriptor = register(pipe().source());
        ConcurrentLinkedQueue<String> told = new ConcurrentLinkedQueue<>();
        handOver(() -> descriptor.notifyWhenReadableOrTimeout(
                outcome -> told.add(outcome + (isOutside() && manager.inManager() ? "" : ", wrongly")),
                manager.clock().nanoTime() - 1));
        Await.until("told", () -> !told.isEmpty());
        assertThat(told).containsExactly("TIMED_OUT");
    }

    @Test
    @DisplayName("grpc-10: a descriptor that is closed or released first is CLOSED")
    void closedInTime() {
        long far = manager.clock().nanoTime() + FAR.toNanos();
        Told told = new Told();
        ReadinessDescriptor closed = register(pipe().source());
        closed.notifyWhenReadableOrTimeout(told, far);
        closed.close();
        told.await(1);

        Pipe pipe = pipe();
        Await.until("it stays full", () -> Bytes.fill(pipe.sink()) == 0);
        ReadinessDescriptor released = register(pipe.sink());
        released.clearWritable();
        released.notifyWhenWritableOrTimeout(told, far);
        released.release();
        told.await(2);
        assertThat(told.outcomes).containsOnly(NotifyOutcome.CLOSED);
    }

    @Test
    @DisplayName("grpc-10: readiness, timeout and close race: exactly one of them is told")
    void readinessTimeoutAndCloseRace() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<Told> all = new ArrayList<>();
        Pipe pipe = pipe();
        ReadinessDescriptor lasting = register(pipe.source());
        for (int round = 0; round < 1_000; round++) {
            Told told = new Told();
            all.add(told);
            int after = random.nextInt(200_000);
            lasting.notifyWhenReadableOrTimeout(told, manager.clock().nanoTime() + after);
            Await.spin(random.nextInt(1 + after / 10));
            lasting.forceReadable();
            told.await(1);
            lasting.clearReadable();
        }
        for (int round = 0; round < 200; round++) {
            Told told = new Told();
            all.add(told);
            Pipe own = pipe();
            ReadinessDescriptor descriptor = register(own.source());
            int after = random.nextInt(300_000);
            descriptor.notifyWhenReadableOrTimeout(told, manager.clock().nanoTime() + after);
            int first = random.nextInt(1_000);
            int second = random.nextInt(1_000);
            Background<Boolean> closer = Background.run(() -> {
                Await.spin(first);
                descriptor.close();
            });
            Await.spin(second);
            writeIfOpen(own);
            told.await(1);
            closer.result();
        }
        turnsOf(lasting, Direction.ERROR);
        for (Told told : all) {
            assertThat(told.outcomes).as("seed " + seed).hasSize(1);
        }
    }

    private static void writeIfOpen(Pipe pipe) {
        try {
            Bytes.write(pipe.sink(), 1);
        } catch (UncheckedIOException closed) {
            // It can no longer be read.
        }
    }

    // ---- Clear, force, close, release ----

    @Test
    @DisplayName(
            "grpc-11: force runs the callback without an event; forced before, the next question is answered, once")
    void forced() {
        ReadinessDescriptor descriptor = register(pipe().source());
        for (Direction direction : Direction.values()) {
            Told told = new Told();
            direction.clear(descriptor);
            ask(descriptor, direction, told);
            direction.force(descriptor);
            told.await(1);

            handOver(() -> direction.force(descriptor));
            handOver(() -> direction.force(descriptor));
            ask(descriptor, direction, told);
            told.await(2);
            assertThat(told.wrong).as(direction.name()).hasValue(0);
            assertThat(told.times).as(direction.name()).hasValue(2);
        }
    }

    @Test
    @DisplayName("grpc-11: clear forgets, so that the next notification is of something new")
    void cleared() {
        Pipe pipe = pipe();
        ReadinessDescriptor descriptor = register(pipe.source());
        Told told = new Told();
        descriptor.forceReadable();
        descriptor.clearReadable();
        ask(descriptor, Direction.READ, told);
        turnsOf(descriptor, Direction.ERROR);
        assertThat(told.times).hasValue(0);
        Bytes.write(pipe.sink(), 1);
        told.await(1);

        Told error = new Told();
        descriptor.forceHasError();
        descriptor.clearHasError();
        ask(descriptor, Direction.ERROR, error);
        turnsOf(descriptor, Direction.READ);
        assertThat(error.times).hasValue(0);
        descriptor.forceHasError();
        error.await(1);
        descriptor.clearWritable();
    }

    @Test
    @DisplayName("grpc-11: close runs every callback on the descriptor's thread, and then closes the source")
    void closeRunsTheCallbacks() {
        SocketPair pair = socketPair();
        Await.until("it stays full", () -> Bytes.fill(pair.left()) == 0);
        ReadinessDescriptor descriptor = register(pair.left());
        descriptor.clearWritable();
        AtomicInteger open = new AtomicInteger();
        Told told = new Told();
        Runnable callback = () -> {
            open.addAndGet(pair.left().isConnected() ? 1 : 0);
            told.run();
        };
        for (Direction direction : Direction.values()) {
            ask(descriptor, direction, callback);
        }
        handOver(descriptor::close);
        assertThat(descriptor.isClosed()).isTrue();
        descriptor.close();
        told.await(3);
        Await.until("the source is closed", () -> !pair.left().isConnected());
        turns(manager);

        assertThat(told.times).hasValue(3);
        assertThat(told.wrong).hasValue(0);
        assertThat(told.threads).hasSize(1);
        assertThat(open).as("callbacks that found it open").hasValue(3);
        assertThat(descriptor.fd()).isEqualTo(-1);
        assertThat(descriptor.release()).isEqualTo(-1);
        for (Direction direction : Direction.values()) {
            assertThatThrownBy(() -> direction.ask(descriptor, callback)).isInstanceOf(IllegalStateException.class);
            direction.force(descriptor);
            direction.clear(descriptor);
            direction.prioritise(descriptor, Priority.HIGH);
        }
        assertThatThrownBy(() -> descriptor.notifyWhenReadableOrTimeout(told, 0))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> descriptor.notifyWhenWritableOrTimeout(told, 0))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    @DisplayName("grpc-11: a descriptor may be closed or released from its own callback")
    void closedFromInside() {
        Pipe first = pipe();
        ReadinessDescriptor closed = register(first.source());
        Told told = new Told();
        ask(closed, Direction.READ, told);
        ask(closed, Direction.ERROR, () -> handOver(closed::close));
        closed.forceHasError();
        told.await(1);

        Pipe second = pipe();
        ReadinessDescriptor released = register(second.source());
        ask(released, Direction.READ, told);
        ask(released, Direction.ERROR, () -> handOver(released::release));
        released.forceHasError();
        told.await(2);
        assertThat(told.wrong).hasValue(0);
        assertThat(closed.isClosed() && released.isClosed()).isTrue();
        Bytes.write(second.sink(), 1);
        Await.until("the released one is open", () -> Bytes.readOnce(second.source(), 1) == 1);
    }

    @Test
    @DisplayName("grpc-11: release runs every callback and leaves the source open, free to be registered again")
    void releaseLeavesItOpen() {
        SocketPair pair = socketPair();
        ReadinessDescriptor descriptor = register(pair.left());
        Told told = new Told();
        ask(descriptor, Direction.READ, told);
        ask(descriptor, Direction.ERROR, told);
        handOver(descriptor::release);
        assertThat(descriptor.isClosed()).isTrue();
        assertThat(descriptor.fd()).isEqualTo(-1);
        assertThat(descriptor.release()).isEqualTo(-1);
        told.await(2);
        assertThat(told.wrong).hasValue(0);
        descriptor.close(); // the number no longer belongs to it
        turns(manager);
        assertThat(pair.left().isConnected()).isTrue();

        Told again = new Told();
        ReadinessDescriptor second = register(pair.left());
        ask(second, Direction.READ, again);
        Bytes.write(pair.right(), 5);
        again.await(1);
        Await.until("it is read", () -> Bytes.drain(pair.left()) == 5);
        assertThat(told.times).hasValue(2);
    }

    @Test
    @DisplayName("grpc-11: each direction has a priority of its own")
    void directionsHavePriorities() {
        assumeStrictPriorities();
        ReadinessDescriptor descriptor = register(pipe().source());
        Gate gate = new Gate();
        manager.run(gate);
        gate.awaitEntered();
        descriptor.setReadPriority(Priority.LOW);
        descriptor.setWritePriority(Priority.SYSTEM);
        descriptor.setErrorPriority(Priority.NORMAL);
        ConcurrentLinkedQueue<String> ran = new ConcurrentLinkedQueue<>();
        for (Direction direction : Direction.values()) {
            direction.ask(descriptor, () -> ran.add(direction.name()));
        }
        descriptor.forceReadable();
        manager.run(() -> ran.add("a task"), Priority.HIGH);
        descriptor.forceHasError();
        descriptor.forceWritable();
        gate.open();
        Await.until("all have run", () -> ran.size() == 4);
        assertThat(ran).containsExactly("WRITE", "a task", "ERROR", "READ");
    }

    @Test
    @DisplayName("grpc-11: a descriptor's toString tells what it is, and whether it is closed")
    void toStringTells() {
        ReadinessDescriptor descriptor = register(pipe().source());
        descriptor.notifyWhenReadable(() -> {});
        String open = descriptor.toString();
        assertThat(open).isNotBlank().doesNotContainPattern("@[0-9a-f]{5,}$");
        descriptor.close();
        assertThat(descriptor.toString()).isNotBlank().isNotEqualTo(open).containsIgnoringCase("closed");
    }

    // ---- Registering ----

    @Test
    @DisplayName("grpc-14: a descriptor knows its source and its manager; a source is registered once")
    void aSourceIsRegisteredOnce() {
        Pipe pipe = pipe();
        ReadinessDescriptor descriptor = register(pipe.source());
        assertThat(descriptor.source()).isSameAs(pipe.source());
        assertThat(descriptor.manager()).isSameAs(manager);
        assertThat(descriptor.isClosed()).isFalse();
        assertThatThrownBy(() -> manager.register(pipe.source())).isInstanceOf(IllegalStateException.class);
        ReadinessEventManager other = closing(open());
        assertThatThrownBy(() -> other.register(pipe.source())).isInstanceOf(IllegalStateException.class);

        Told told = new Told();
        ask(descriptor, Direction.READ, told);
        Bytes.write(pipe.sink(), 1);
        told.await(1);
    }

    @Test
    @DisplayName("grpc-14: delete forgets what was closed or released, and releases what was not")
    void deleteReleases() {
        Pipe pipe = pipe();
        ReadinessDescriptor descriptor = register(pipe.source());
        Told told = new Told();
        ask(descriptor, Direction.READ, told);
        manager.delete(descriptor);
        told.await(1);
        assertThat(descriptor.isClosed()).isTrue();
        Bytes.write(pipe.sink(), 1);
        Await.until("it is open", () -> Bytes.readOnce(pipe.source(), 1) == 1);

        ReadinessDescriptor closed = register(pipe.source());
        closed.close();
        manager.delete(closed);
        ReadinessDescriptor released = register(pipe().source());
        released.release();
        manager.delete(released);

        ReadinessEventManager other = closing(open());
        ReadinessDescriptor theirs = closing(other.register(pipe().source()));
        assertThatThrownBy(() -> manager.delete(theirs)).isInstanceOf(IllegalArgumentException.class);
        assertThat(theirs.isClosed()).isFalse();
    }

    @Test
    @DisplayName(
            "grpc-11, grpc-14: a descriptor by its number: told of, registered once, released open, closed by close")
    void aDescriptorByItsNumber() throws IOException {
        assumeTrue(OpenFiles.canBeCounted(), "needs to know the number of a pipe");
        if (!hasNumbers()) {
            assertThatThrownBy(() -> manager.register(0)).isInstanceOf(UnsupportedOperationException.class);
            return;
        }
        Set<Integer> before = OpenFiles.pipes();
        Pipe pipe = net().pipe();
        CLOSED_BY_NUMBER.add(pipe);
        closing(pipe.sink());
        Set<Integer> ends = new HashSet<>(OpenFiles.pipes());
        ends.removeAll(before);
        assertThat(ends).hasSize(2);
        int fd = OpenFiles.readingEnd(ends);

        ReadinessDescriptor descriptor = closing(manager.register(fd));
        assertThat(descriptor.fd()).isEqualTo(fd);
        assertThat(descriptor.manager()).isSameAs(manager);
        assertThatThrownBy(() -> manager.register(fd)).isInstanceOf(IllegalStateException.class);
        Told told = new Told();
        ask(descriptor, Direction.READ, told);
        turnsOf(descriptor, Direction.ERROR);
        assertThat(told.times).hasValue(0);
        Bytes.write(pipe.sink(), 1);
        told.await(1);
        assertThat(Bytes.readOnce(pipe.source(), 1)).isEqualTo(1);

        assertThat(descriptor.release()).isEqualTo(fd);
        Bytes.write(pipe.sink(), 1);
        assertThat(Bytes.readOnce(pipe.source(), 1)).as("it is open").isEqualTo(1);
        assertThat(OpenFiles.pipes()).contains(fd);

        ReadinessDescriptor second = manager.register(fd);
        ask(second, Direction.READ, told);
        second.close();
        told.await(2);
        Await.until("the number is closed", () -> !OpenFiles.pipes().contains(fd));
        assertThat(told.wrong).hasValue(0);
    }

    @Test
    @DisplayName("grpc-14: a number that is not open is refused")
    void aNumberMustBeOpen() {
        assumeTrue(hasNumbers(), "this manager takes no numbers");
        assertThatThrownBy(() -> manager.register(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> manager.register(1_000_000)).isInstanceOf(IllegalArgumentException.class);
        turns(manager);
    }

    // ---- Slack ----

    @Test
    @DisplayName("grpc-4: an alarm with slack fires between its deadline and that plus the slack")
    void slackIsABound() {
        ManualClock clock = new ManualClock();
        ReadinessEventManager slow = openOn(clock);
        long second = Duration.ofSeconds(1).toNanos();
        Bell lone = new Bell(slow);
        Bell exact = new Bell(slow);
        Bell cancelled = new Bell(slow);
        slow.schedule(second, Duration.ofSeconds(1), lone, Priority.NORMAL);
        slow.schedule(second, Duration.ZERO, exact, Priority.NORMAL);
        AlarmKey key = slow.schedule(second, Duration.ofSeconds(5), cancelled, Priority.NORMAL);

        clock.advance(Duration.ofNanos(second - 1));
        turns(slow);
        assertThat(lone.calls() + exact.calls() + cancelled.calls()).isZero();
        clock.advance(TICK.plusNanos(1));
        exact.awaitFired(1);
        clock.advance(Duration.ofSeconds(1));
        lone.awaitFired(1);
        CancelResult result = slow.cancel(key);
        if (result == CancelResult.CANCELLED) {
            assertThat(cancelled.stopped).hasValue(1);
        }
        clock.advance(Duration.ofSeconds(10));
        turns(slow);
        Await.until("called", () -> cancelled.calls() == 1);
        assertThat(lone.calls() + exact.calls()).isEqualTo(2);
    }

    // ---- No interference ----

    @Test
    @DisplayName("grpc-9: a callback that throws harms nobody, not its own descriptor either")
    void aThrowingCallbackHarmsNobody() {
        ReadinessDescriptor descriptor = register(pipe().source());
        for (Direction direction : Direction.values()) {
            direction.clear(descriptor);
            direction.ask(descriptor, () -> {
                throw new IllegalStateException("thrown by a notification of the test");
            });
            direction.force(descriptor);
            Told told = new Told();
            Await.until("it may be asked again", () -> {
                try {
                    direction.ask(descriptor, told);
                    return true;
                } catch (IllegalStateException pending) {
                    return false;
                }
            });
            direction.force(descriptor);
            told.await(1);
        }
        descriptor.notifyWhenReadableOrTimeout(
                outcome -> {
                    throw new AssertionError("an error thrown by a notification of the test");
                },
                manager.clock().nanoTime() - 1);
        turns(manager);
        descriptor.notifyWhenHasError(() -> {
            throw new IllegalStateException("thrown by a notification of a closed descriptor of the test");
        });
        descriptor.close();
        turns(manager);
    }

    @Test
    @DisplayName("grpc-7, grpc-9: every method can be called from a notification, and on other threads while one stands"
            + " still")
    void nothingIsLocked() {
        ReadinessDescriptor descriptor = register(pipe().source());
        AtomicInteger survived = new AtomicInteger();
        for (Direction direction : Direction.values()) {
            int before = survived.get();
            direction.clear(descriptor);
            ask(descriptor, direction, () -> {
                callEverything(descriptor);
                survived.incrementAndGet();
            });
            direction.force(descriptor);
            Await.until("from " + direction, () -> survived.get() > before);
        }

        Gate gate = new Gate();
        descriptor.clearHasError();
        descriptor.notifyWhenHasError(gate);
        descriptor.forceHasError();
        gate.awaitEntered();
        Background.run(() -> callEverything(descriptor)).result();
        Pipe other = pipe();
        Background.run(() -> {
                    ReadinessDescriptor brief = manager.register(other.source());
                    callEverything(brief);
                    brief.release();
                    manager.delete(brief);
                    manager.register(other.source()).close();
                })
                .result();
        gate.open();
        turnsOf(descriptor, Direction.ERROR);
    }

    private void callEverything(ReadinessDescriptor descriptor) {
        EventManagerContract.callEverything(manager);
        manager.cancel(manager.schedule(
                manager.clock().nanoTime() + FAR.toNanos(), Duration.ofSeconds(1), fired -> {}, Priority.LOW));
        descriptor.fd();
        descriptor.source();
        descriptor.manager();
        assertThat(descriptor.isClosed()).isFalse();
        assertThat(descriptor.toString()).isNotBlank();
        for (Direction direction : Direction.values()) {
            direction.prioritise(descriptor, Priority.NORMAL);
            direction.force(descriptor);
            direction.clear(descriptor);
        }
    }

    @Test
    @DisplayName("grpc-8, grpc-11: a manager that ends releases its descriptors: who waits is told, and what is watched"
            + " stays open")
    void aManagerThatEndsReleases() {
        ReadinessEventManager ending = closing(open());
        SocketPair pair = socketPair();
        ReadinessDescriptor descriptor = ending.register(pair.left());
        Told told = new Told();
        descriptor.notifyWhenReadableOrTimeout(told, ending.clock().nanoTime() + FAR.toNanos());
        ReadinessDescriptor idle = ending.register(pair.right());
        Background.run(ending::close).result();

        assertThat(told.outcomes).containsExactly(NotifyOutcome.CLOSED);
        assertThat(descriptor.isClosed() && idle.isClosed()).isTrue();
        assertThatThrownBy(() -> descriptor.notifyWhenReadable(told)).isInstanceOf(IllegalStateException.class);
        Background.run(descriptor::close).result();
        Background.run(idle::release).result();
        Bytes.write(pair.right(), 1);
        Await.until("both are open", () -> Bytes.readOnce(pair.left(), 1) == 1);
        ask(register(pair.left()), Direction.READ, told);
        Bytes.write(pair.right(), 1);
        told.await(2);
        assertThatThrownBy(() -> ending.register(pipe().source())).isInstanceOf(RejectedExecutionException.class);
    }
}
