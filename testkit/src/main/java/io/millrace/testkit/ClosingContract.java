package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.millrace.net.Pipe;
import io.millrace.net.TcpStream;
import io.millrace.poll.Channel;
import io.millrace.poll.ClosedPollException;
import io.millrace.poll.Event;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Timer;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A closed source is silent for ever, and a closed poll has released everything. */
@DisplayName("Closing")
public abstract class ClosingContract extends PollContract {
    private static final long TOKEN = 8;

    /**
     * Creates a suite for one backend.
     *
     * @param backend the backend to test
     */
    protected ClosingContract(TestedBackend backend) {
        super(backend);
    }

    @Test
    @DisplayName("mio-11: setting the readiness of a closed source does nothing")
    void aClosedSourceIsSilent() {
        Registration source = new Registration();
        poll.register(source, TOKEN, Interest.READ_WRITE, Trigger.LEVEL);
        source.setReadiness(Readiness.READABLE);
        poll.poll(events, NOW);

        source.close();

        assertThat(read(events)).as("the batch from before").isEmpty();
        source.setReadiness(Readiness.WRITABLE);
        source.replaceReadiness(Readiness.READABLE);
        source.delayReadiness(Readiness.READABLE, Duration.ZERO);
        source.unsetReadiness(Readiness.READABLE);
        source.close();
        assertThat(pollNow()).isEmpty();
        assertThat(poll.size()).isZero();
        assertThatIllegalStateException()
                .isThrownBy(() -> poll.register(source, TOKEN, Interest.READABLE, Trigger.EDGE))
                .withMessageContaining("closed");
    }

    @Test
    @DisplayName("mio-11: a closed socket is silent, also in the batch that is being read")
    void aClosedSocketIsSilent() {
        SocketPair pair = socketPair();
        poll.register(pair.left(), TOKEN, Interest.READ_WRITE, Trigger.LEVEL);
        awaitReadiness(TOKEN, Readiness.WRITABLE);
        pollSoon(events);

        pair.left().close();

        assertThat(read(events)).isEmpty();
        assertThat(pollNow()).isEmpty();
        assertThat(poll.size()).isZero();
        assertThatIllegalStateException()
                .isThrownBy(() -> poll.register(pair.left(), TOKEN, Interest.READABLE, Trigger.EDGE))
                .withMessageContaining("closed");
        assertThat(poll.size()).isZero();
    }

    @Test
    @DisplayName("mio-11: a token that is used again does not get the events of its closed owner")
    void aReusedTokenIsSilent() {
        Events first = Events.withCapacity(4);
        for (int i = 0; i < 1_000; i++) {
            Registration old = new Registration();
            poll.register(old, TOKEN, Interest.READABLE, Trigger.LEVEL);
            old.setReadiness(Readiness.READABLE);
            poll.poll(first, NOW);
            old.close();

            Registration quiet = new Registration();
            poll.register(quiet, TOKEN, Interest.READABLE, Trigger.LEVEL);
            old.setReadiness(Readiness.READABLE);

            assertThat(read(first)).as("the old batch, round " + i).isEmpty();
            assertThat(pollNow()).as("a new poll, round " + i).isEmpty();
            quiet.close();
        }
    }

    @Test
    @DisplayName("mio-11: under stress no event carries the token of a source whose close has returned")
    void noEventOfAClosedSource() {
        int sources = 3_000;
        AtomicLong closedUpTo = new AtomicLong(-1);
        AtomicBoolean done = new AtomicBoolean();
        Background<Boolean> owner = Background.run(() -> {
            try {
                for (int i = 0; i < sources; i++) {
                    Registration source = new Registration();
                    poll.register(source, i, Interest.READABLE, i % 2 == 0 ? Trigger.LEVEL : Trigger.EDGE);
                    source.setReadiness(Readiness.READABLE);
                    Background<Boolean> late = i % 100 == 0 ? setsOnAndOn(source, done) : null;
                    source.close();
                    closedUpTo.set(i); // slots and generations are reused from here on
                    source.setReadiness(Readiness.READABLE);
                    assertThat(late == null || late.thread().isAlive() || late.result())
                            .isTrue();
                }
            } finally {
                done.set(true);
            }
        });
        while (!owner.isDone()) {
            poll.poll(events, NOW);
            for (long closed = closedUpTo.get(); events.advance(); closed = closedUpTo.get()) {
                assertThat(events.token())
                        .as("token of an event; closed were those up to")
                        .isGreaterThan(closed);
            }
        }
        owner.result();
        assertThat(poll.size()).isZero();
    }

    private static Background<Boolean> setsOnAndOn(Registration source, AtomicBoolean done) {
        return Background.run(() -> {
            while (!done.get()) {
                source.setReadiness(Readiness.READABLE);
                LockSupport.parkNanos(1);
            }
        });
    }

    @Test
    @DisplayName("mio-11: under stress no event carries the token of a closed pipe, though its number is used again")
    void noEventOfAClosedDescriptor() {
        int pipes = 2_000;
        AtomicLong closedUpTo = new AtomicLong(-1);
        Background<Boolean> owner = Background.run(() -> {
            for (int i = 0; i < pipes; i++) {
                try (Pipe pipe = net().pipe()) {
                    poll.register(pipe.sink(), i, Interest.WRITABLE, Trigger.LEVEL);
                }
                closedUpTo.set(i);
            }
        });
        while (!owner.isDone()) {
            poll.poll(events, NOW);
            for (long closed = closedUpTo.get(); events.advance(); closed = closedUpTo.get()) {
                assertThat(events.token())
                        .as("token of an event; closed were those up to")
                        .isGreaterThan(closed);
            }
        }
        owner.result();
        assertThat(poll.size()).isZero();
    }

    @Test
    @DisplayName("mio-17, tip-14: closing gives every descriptor back, with sources registered or not")
    void everyDescriptorIsGivenBack() throws Exception {
        assumeThat(OpenFiles.canBeCounted())
                .as("this system counts a process's descriptors")
                .isTrue();
        openUseAndClose(); // whatever the JDK opens once and keeps
        Map<String, Integer> before = OpenFiles.count();

        for (int i = 0; i < 20; i++) {
            openUseAndClose();
        }

        assertThat(OpenFiles.areNoMoreThan(before))
                .as("%s, not %s", OpenFiles.count(), before)
                .isTrue();
    }

    private void openUseAndClose() throws Exception {
        Poll used = builder().open();
        Pipe pipe = net().pipe();
        try (SocketPair pair = SocketPair.connect(net());
                Pipe leftAlone = net().pipe()) {
            used.register(pair.left(), 1, Interest.READ_WRITE, Trigger.EDGE);
            used.register(pair.right(), 2, Interest.READ_WRITE, Trigger.LEVEL);
            used.register(pipe.source(), 3, Interest.READABLE, Trigger.ONESHOT);
            used.register(leftAlone.sink(), 4, Interest.WRITABLE, Trigger.LEVEL);
            used.poll(events, SOON);
            used.deregister(pair.right());
            pipe.close();
            used.close();
            used.close();
        }
    }

    @Test
    @DisplayName("mio-17: a source closed before its poll is given back without another poll")
    void aClosedSourceIsGivenBackAtOnce() {
        assumeThat(OpenFiles.canBeCounted())
                .as("this system counts a process's descriptors")
                .isTrue();
        SocketPair first = SocketPair.connect(net());
        poll.register(first.left(), 1, Interest.READ_WRITE, Trigger.LEVEL);
        pollSoon(events);
        first.close();
        poll.poll(events, NOW);
        Map<String, Integer> before = OpenFiles.count();

        for (int i = 0; i < 10; i++) {
            SocketPair pair = SocketPair.connect(net());
            poll.register(pair.left(), 1, Interest.READ_WRITE, Trigger.LEVEL);
            pollSoon(events);
            pair.close();
        }

        assertThat(OpenFiles.areNoMoreThan(before))
                .as("%s, not %s", OpenFiles.count(), before)
                .isTrue();
    }

    @Test
    @DisplayName("mio-17: a closed poll leaves the sources open, and they may move to another one")
    void theSourcesStayOpen() {
        SocketPair pair = socketPair();
        Poll first = open(builder());
        first.register(pair.left(), TOKEN, Interest.READABLE, Trigger.EDGE);
        first.close();

        poll.register(pair.left(), TOKEN, Interest.READABLE, Trigger.EDGE);
        Bytes.write(pair.right(), 3);
        awaitReadiness(TOKEN, Readiness.READABLE);
        assertThat(Bytes.drain(pair.left())).isEqualTo(3);
    }

    @Test
    @DisplayName("mio-17: a registration of a closed poll may be used without harm")
    void aRegistrationOutlivesItsPoll() {
        Registration source = new Registration();
        Channel<String> channel = Channel.unbounded();
        Timer<String> timer = Timer.create();
        poll.register(source, 1, Interest.READABLE, Trigger.LEVEL);
        poll.register(channel, 2, Interest.READABLE, Trigger.LEVEL);
        poll.register(timer, 3, Interest.READABLE, Trigger.LEVEL);
        poll.close();

        assertThatCode(() -> {
                    source.setReadiness(Readiness.READABLE);
                    source.unsetReadiness(Readiness.READABLE);
                    source.replaceReadiness(Readiness.WRITABLE);
                    source.delayReadiness(Readiness.READABLE, Duration.ofSeconds(1));
                    source.readiness();
                    source.close();
                    channel.send("nobody waits");
                    channel.receive();
                    channel.close();
                    timer.set(Duration.ofSeconds(1), "nobody waits");
                    timer.poll();
                    timer.close();
                })
                .doesNotThrowAnyException();
    }

    @Test
    @DisplayName("mio-17: a closed poll holds on to none of its sources")
    void aClosedPollHoldsNothing() {
        List<WeakReference<Object>> references = new ArrayList<>();
        registerAndForget(references);
        poll.close();

        awaitCollection(references); // while this test still holds the poll
    }

    private void registerAndForget(List<WeakReference<Object>> references) {
        for (int i = 0; i < 100; i++) {
            // What a poll keeps of a timer leads back to it; a registration does not show whether it is still queued.
            Timer<String> timer = Timer.withTick(Duration.ofNanos(1));
            timer.set(Duration.ZERO, "due");
            poll.register(timer, i, Interest.READABLE, i % 2 == 0 ? Trigger.LEVEL : Trigger.EDGE);
            references.add(new WeakReference<>(timer));
        }
        poll.poll(events, NOW); // some are reported and queued again, some never were
    }

    @Test
    @DisplayName("mio-10: an open poll does not hold on to a source that was deregistered")
    void anOpenPollForgetsADeregisteredSource() {
        List<WeakReference<Object>> references = new ArrayList<>();
        registerDeregisterAndForget(references);
        pollNow();

        awaitCollection(references);
    }

    private static void awaitCollection(List<WeakReference<Object>> references) {
        Await.until("every source is collected", () -> {
            System.gc();
            return references.stream().allMatch(reference -> reference.get() == null);
        });
    }

    private void registerDeregisterAndForget(List<WeakReference<Object>> references) {
        for (int i = 0; i < 10; i++) {
            // As above: of a timer, whatever the poll keeps leads back to it.
            Timer<String> timer = Timer.withTick(Duration.ofNanos(1));
            timer.set(Duration.ZERO, "due");
            poll.register(timer, i, Interest.READABLE, Trigger.LEVEL);
            pollNow();
            poll.deregister(timer);
            references.add(new WeakReference<>(timer));
        }
    }

    @Test
    @DisplayName("tip-14: close is idempotent, from any number of threads")
    void closeIsIdempotent() {
        for (int round = 0; round < 50; round++) {
            Poll many = builder().open();
            List<Background<Boolean>> closers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                closers.add(Background.run(many::close));
            }
            closers.forEach(Background::result);
            many.close();
            assertThat(many.toString()).contains("closed");
        }
    }

    @Test
    @DisplayName("tip-14: closing ends a poll that waits on another thread, and returns when it has let go")
    void closeEndsAPollUnderWay() {
        Background<Integer> sleeper = Background.call(() -> poll.poll(events));
        Await.until("the poll sleeps", () -> poll.waits() > 0);

        poll.close();

        assertThat(sleeper.failure(ClosedPollException.class)).hasMessageContaining("the poll is closed");
    }

    @Test
    @DisplayName("tip-14: a poll that is closed on its way to sleep does not sleep")
    void closedOnTheWayToSleep() {
        AtomicBoolean closes = new AtomicBoolean();
        poll = open(builder().clock(() -> {
            if (closes.getAndSet(false)) {
                Background<Boolean> closer = Background.run(poll::close);
                Await.until("the closer waits for us", () -> closer.thread().getState() == Thread.State.WAITING);
            }
            return System.nanoTime();
        }));
        closes.set(true); // when the poll asks for the time, to know until when it may sleep

        Background<Integer> sleeper = Background.call(() -> poll.poll(events, Duration.ofHours(1)));

        assertThat(sleeper.failure(ClosedPollException.class)).isNotNull();
        assertThat(closes).isFalse();
    }

    @Test
    @DisplayName("tip-14: closing races with polling, and nobody hangs or crashes")
    void closeRacesWithPolling() {
        for (int round = 0; round < 200; round++) {
            Poll racing = builder().open();
            Events own = Events.withCapacity(4);
            Registration source = new Registration();
            racing.register(source, TOKEN, Interest.READABLE, Trigger.LEVEL);
            Background<Boolean> poller = Background.run(() -> {
                while (true) {
                    racing.poll(own, SOON);
                }
            });
            Background<Boolean> setter = Background.run(() -> {
                for (int i = 0; i < 100; i++) {
                    source.setReadiness(Readiness.READABLE);
                    source.unsetReadiness(Readiness.READABLE);
                    racing.wake();
                }
            });
            racing.close();
            poller.failure(ClosedPollException.class);
            setter.result();
        }
    }

    @Test
    @DisplayName("tip-14: a handler may close the poll that called it, and the batch is over")
    void aHandlerMayClose() {
        Registration source = closing(new Registration());
        Registration other = closing(new Registration());
        poll.register(source, 1, Interest.READABLE, Trigger.EDGE);
        poll.register(other, 2, Interest.READABLE, Trigger.EDGE);
        source.setReadiness(Readiness.READABLE);
        other.setReadiness(Readiness.READABLE);
        List<Long> handled = new ArrayList<>();

        poll.runOnce(
                (self, token, kind) -> {
                    handled.add(token);
                    self.close();
                },
                events,
                NOW);

        assertThat(handled).hasSize(1);
    }

    @Test
    @DisplayName("mio-11: closing a socket that another thread waits for is silent and wakes nobody's error")
    void closingASocketDuringTheWait() {
        TcpStream socket = socketPair().left();
        Registration marker = closing(new Registration());
        poll.register(socket, 1, Interest.READABLE, Trigger.LEVEL);
        poll.register(marker, 2, Interest.READABLE, Trigger.EDGE);
        Background<List<Event>> sleeper = Background.call(() -> poll(SOON));
        Await.until("the poll sleeps", () -> poll.waits() > 0);

        socket.close();
        marker.setReadiness(Readiness.READABLE);

        assertThat(sleeper.result()).containsExactly(new Event(2, Readiness.READABLE));
    }

    @Test
    @DisplayName("end-6: while a close waits for its peer, others register and deregister")
    void aLingeringCloseHoldsNobodyUp() throws IOException {
        SocketPair pair = socketPair();
        poll.register(pair.left(), TOKEN, Interest.READABLE, Trigger.LEVEL);
        Background<Boolean> closer = closeWithLinger(pair);

        Background<Boolean> registering = Background.run(this::registerAndDeregister);

        assertThat(registering.result()).isTrue();
        pair.right().close(); // a reset: nothing is left to wait for
        assertThat(closer.result()).isTrue();
        assertThat(poll.size()).isZero();
    }

    @Test
    @DisplayName("end-6: so they do if the close comes during a wait")
    void aLingeringCloseDuringAWaitHoldsNobodyUp() throws IOException {
        SocketPair pair = socketPair();
        Registration end = new Registration();
        poll.register(pair.left(), TOKEN, Interest.READABLE, Trigger.LEVEL);
        poll.register(end, TOKEN + 1, Interest.READABLE, Trigger.LEVEL);
        long waits = poll.waits();
        Background<List<Event>> waiting = Background.call(() -> poll(null));
        Await.until("the poll waits", () -> poll.waits() > waits);
        Background<Boolean> closer = closeWithLinger(pair);

        Background<Boolean> registering = Background.run(this::registerAndDeregister);

        assertThat(registering.result()).isTrue();
        pair.right().close();
        assertThat(closer.result()).isTrue();
        end.setReadiness(Readiness.READABLE);
        assertThat(tokens(waiting.result())).containsExactly(TOKEN + 1);
    }

    /**
     * Closes the left end, which has unread bytes to send, with SO_LINGER; returns when the close blocks, or is done.
     */
    private static Background<Boolean> closeWithLinger(SocketPair pair) throws IOException {
        Bytes.fill(pair.left());
        pair.left().setLinger(Await.DEADLINE.multipliedBy(3));
        Background<Boolean> closer = Background.run(pair.left()::close);
        Await.until("the close waits, or another thread closes", () -> closer.isDone() || isClosingADescriptor());
        return closer;
    }

    private static boolean isClosingADescriptor() {
        return Thread.getAllStackTraces().values().stream()
                .flatMap(Arrays::stream)
                .anyMatch(frame -> frame.getClassName().equals("io.millrace.sys.Descriptor")
                        && frame.getMethodName().equals("reallyClose"));
    }

    private void registerAndDeregister() {
        Registration software = new Registration();
        TcpStream socket = socketPair().right();
        poll.register(software, TOKEN + 2, Interest.READABLE, Trigger.LEVEL);
        poll.register(socket, TOKEN + 3, Interest.READABLE, Trigger.LEVEL);
        poll.reregister(socket, TOKEN + 4, Interest.NONE, Trigger.LEVEL);
        poll.deregister(socket);
        poll.deregister(software);
    }
}
