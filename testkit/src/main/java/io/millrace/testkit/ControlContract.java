package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.millrace.net.TcpStream;
import io.millrace.poll.Event;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Source;
import io.millrace.poll.Trigger;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Register, reregister and deregister: from the polling thread, from others, and in the middle of a batch. */
@DisplayName("Control")
public abstract class ControlContract extends PollContract {
    private static final long OLD = 1;
    private static final long NEW = 2;

    private final Registration source = new Registration();

    /**
     * Creates a suite for one backend.
     *
     * @param backend the backend to test
     */
    protected ControlContract(TestedBackend backend) {
        super(backend);
    }

    @Test
    @DisplayName("mio-4: after reregister an event that was queued carries the new token only")
    void aQueuedEventCarriesTheNewToken() {
        poll.register(source, OLD, Interest.READABLE, Trigger.EDGE);
        source.setReadiness(Readiness.READABLE);

        poll.reregister(source, NEW, Interest.READABLE, Trigger.EDGE);

        assertThat(tokens(pollNow())).containsExactly(NEW);
        assertThat(pollNow()).isEmpty();
    }

    @Test
    @DisplayName("mio-4: so does an event that is already in the batch, of a socket too")
    void anEventInTheBatchCarriesTheNewToken() {
        TcpStream socket = socketPair().left();
        poll.register(socket, OLD, Interest.WRITABLE, Trigger.LEVEL);
        awaitReadiness(OLD, Readiness.WRITABLE);
        poll.register(source, 10 + OLD, Interest.READABLE, Trigger.LEVEL);
        source.setReadiness(Readiness.READABLE);
        pollSoon(events);
        assertThat(tokens(read(events))).containsExactlyInAnyOrder(OLD, 10 + OLD);

        poll.reregister(socket, NEW, Interest.WRITABLE, Trigger.LEVEL);
        poll.reregister(source, 10 + NEW, Interest.READABLE, Trigger.LEVEL);

        assertThat(tokens(read(events))).containsExactlyInAnyOrder(NEW, 10 + NEW);
    }

    @Test
    @DisplayName("mio-4: reregister replaces token, interest and trigger of a socket")
    void reregisterReplacesAllThree() {
        TcpStream socket = socketPair().left();
        poll.register(socket, OLD, Interest.READABLE, Trigger.EDGE);
        assertThat(pollNow()).isEmpty();

        poll.reregister(socket, NEW, Interest.WRITABLE, Trigger.LEVEL);

        for (int i = 0; i < 3; i++) {
            assertThat(pollSoon()).containsExactly(new Event(NEW, Readiness.WRITABLE));
        }
    }

    @Test
    @DisplayName("mio-10: deregister forgets what is pending")
    void deregisterForgetsWhatIsPending() {
        poll.register(source, OLD, Interest.READABLE, Trigger.LEVEL);
        source.setReadiness(Readiness.READABLE);

        poll.deregister(source);

        assertThat(pollNow()).isEmpty();
        assertThat(poll.size()).isZero();
    }

    @Test
    @DisplayName("mio-10: deregister takes the event out of the batch that is being read")
    void deregisterActsOnTheBatch() {
        TcpStream socket = socketPair().left();
        poll.register(socket, OLD, Interest.WRITABLE, Trigger.LEVEL);
        awaitReadiness(OLD, Readiness.WRITABLE);
        poll.register(source, NEW, Interest.READABLE, Trigger.LEVEL);
        source.setReadiness(Readiness.READABLE);
        pollSoon(events);
        assertThat(events.size()).isEqualTo(2);

        assertThat(events.advance()).isTrue();
        // Whichever comes first, its handler removes the other one.
        poll.deregister(events.token() == OLD ? source : socket);

        assertThat(events.advance())
                .as("the second of two events, whose source is gone")
                .isFalse();
    }

    @Test
    @DisplayName("mio-10: a deregistered socket never comes back, though it is ready")
    void aDeregisteredSocketIsSilent() {
        TcpStream socket = socketPair().left();
        poll.register(socket, OLD, Interest.WRITABLE, Trigger.LEVEL);
        awaitReadiness(OLD, Readiness.WRITABLE);

        poll.deregister(socket);
        assertThat(pollNow()).isEmpty();

        poll.register(socket, NEW, Interest.WRITABLE, Trigger.LEVEL);
        assertThat(pollSoon()).containsExactly(new Event(NEW, Readiness.WRITABLE));
    }

    @Test
    @DisplayName("mio-10: a slot's new owner does not get the events of the old one")
    void aReusedSlotGetsNoStaleEvent() {
        TcpStream first = socketPair().left();
        TcpStream second = socketPair().left();
        poll.register(first, OLD, Interest.WRITABLE, Trigger.LEVEL);
        awaitReadiness(OLD, Readiness.WRITABLE);
        pollSoon(events);

        poll.deregister(first);
        poll.register(second, NEW, Interest.READABLE.and(Interest.WRITABLE), Trigger.LEVEL);

        assertThat(read(events))
                .as("the batch in which only the old owner was ready")
                .isEmpty();
    }

    @Test
    @DisplayName("mio-4, mio-26: what was found under a former interest does not silence the new one")
    void aResultOfFormerTermsSilencesNobody() {
        for (Trigger trigger : Trigger.values()) {
            foundUnderFormerTerms(trigger);
        }
    }

    private void foundUnderFormerTerms(Trigger trigger) {
        SocketPair first = socketPair();
        SocketPair second = socketPair();
        poll.register(first.left(), OLD, Interest.WRITABLE, trigger);
        poll.register(second.left(), 10 + OLD, Interest.WRITABLE, trigger);
        // Both are ready, and one is taken: a backend may keep what it has found of the other for the next poll.
        assertThat(pollSoon(Events.withCapacity(1))).isEqualTo(1);

        poll.reregister(first.left(), NEW, Interest.READABLE, trigger);
        poll.reregister(second.left(), 10 + NEW, Interest.READABLE, trigger);
        assertThat(pollNow()).as(trigger + ": nothing to read yet").isEmpty();

        Bytes.write(first.right(), 1);
        awaitReadiness(NEW, Readiness.READABLE);
        Bytes.write(second.right(), 1);
        awaitReadiness(10 + NEW, Readiness.READABLE);
        first.close();
        second.close();
    }

    @Test
    @DisplayName("mio-26: nor does what a poll finds while another thread reregisters")
    void reregisterRacesAWaitThatFinds() {
        for (Trigger trigger : Trigger.values()) {
            reregisterRacesAWait(trigger);
        }
    }

    private void reregisterRacesAWait(Trigger trigger) {
        SocketPair pair = socketPair();
        AtomicLong seen = new AtomicLong(-1);
        AtomicBoolean over = new AtomicBoolean();
        poll.register(pair.left(), 0, Interest.READABLE, trigger);
        Background<Boolean> poller = Background.run(() -> {
            Events found = Events.withCapacity(8);
            while (!over.get()) {
                poll.poll(found, null);
                while (found.advance()) {
                    if (found.isWritable()) {
                        seen.set(found.token());
                    }
                }
            }
        });

        for (long round = 1; round <= 300; round++) {
            long token = round;
            Bytes.write(pair.right(), 1);
            poll.reregister(pair.left(), token, Interest.WRITABLE, trigger);
            Await.until("round " + round + ": it is writable", () -> seen.get() == token);
            poll.reregister(pair.left(), token, Interest.READABLE, trigger);
            Bytes.drain(pair.left());
        }
        over.set(true);
        poll.wake();
        assertThat(poller.result()).isTrue();
        pair.close();
    }

    @Test
    @DisplayName("mio-14: a software source belongs to the poll that it was first registered with")
    void aSourceBelongsToOnePoll() {
        Poll other = open(builder());
        poll.register(source, OLD, Interest.READABLE, Trigger.EDGE);

        assertThatIllegalStateException()
                .isThrownBy(() -> other.register(source, NEW, Interest.READABLE, Trigger.EDGE))
                .withMessageContaining("cannot register");
        poll.deregister(source);
        assertThatIllegalStateException()
                .isThrownBy(() -> other.register(source, NEW, Interest.READABLE, Trigger.EDGE))
                .withMessageContaining("belongs to another poll");

        assertThat(other.size()).isZero();
        poll.register(source, OLD, Interest.READABLE, Trigger.EDGE);
        source.setReadiness(Readiness.READABLE);
        assertThat(tokens(pollNow())).containsExactly(OLD);
    }

    @Test
    @DisplayName("mio-14: a socket is in one poll at a time, and may move")
    void aSocketIsInOnePollAtATime() {
        Poll other = open(builder());
        TcpStream socket = socketPair().left();
        poll.register(socket, OLD, Interest.WRITABLE, Trigger.LEVEL);

        assertThatIllegalStateException()
                .isThrownBy(() -> other.register(socket, NEW, Interest.WRITABLE, Trigger.LEVEL))
                .withMessageContaining("another poll")
                .withMessageContaining("deregister it there first");

        awaitReadiness(OLD, Readiness.WRITABLE);
        poll.deregister(socket);
        other.register(socket, NEW, Interest.WRITABLE, Trigger.LEVEL);
        other.poll(events, SOON);
        assertThat(tokens(read(events))).containsExactly(NEW);
    }

    @Test
    @DisplayName("mio-26: a source registered by another thread reaches a poll that is asleep")
    void registerReachesASleepingPoll() {
        source.setReadiness(Readiness.READABLE);
        Background<List<Event>> sleeper = sleepingPoll();

        poll.register(source, NEW, Interest.READABLE, Trigger.EDGE);

        assertThat(sleeper.result()).containsExactly(new Event(NEW, Readiness.READABLE));
    }

    @Test
    @DisplayName("mio-26: so does a socket")
    void registeringASocketReachesASleepingPoll() {
        TcpStream socket = socketPair().left();
        Background<List<Event>> sleeper = sleepingPoll();

        poll.register(socket, NEW, Interest.WRITABLE, Trigger.LEVEL);

        assertThat(sleeper.result()).containsExactly(new Event(NEW, Readiness.WRITABLE));
    }

    @Test
    @DisplayName("mio-26: so does a reregister")
    void reregisterReachesASleepingPoll() {
        TcpStream socket = socketPair().left();
        poll.register(socket, OLD, Interest.READABLE, Trigger.LEVEL);
        Background<List<Event>> sleeper = sleepingPoll();

        poll.reregister(socket, NEW, Interest.WRITABLE, Trigger.LEVEL);

        assertThat(sleeper.result()).containsExactly(new Event(NEW, Readiness.WRITABLE));
    }

    @Test
    @DisplayName("mio-26, mio-10: a source deregistered during a poll is not reported by it")
    void deregisterReachesASleepingPoll() {
        SocketPair pair = socketPair();
        poll.register(pair.left(), OLD, Interest.READABLE, Trigger.LEVEL);
        poll.register(source, NEW, Interest.READABLE, Trigger.LEVEL);
        Background<List<Event>> sleeper = sleepingPoll();

        poll.deregister(pair.left());
        Bytes.write(pair.right(), 1);
        source.setReadiness(Readiness.READABLE);

        assertThat(sleeper.result()).containsExactly(new Event(NEW, Readiness.READABLE));
        assertThat(tokens(pollNow())).containsExactly(NEW);
    }

    @Test
    @DisplayName("mio-26: of several control calls the last one wins")
    void theLastControlCallWins() {
        SocketPair pair = socketPair();
        Background<List<Event>> sleeper = sleepingPoll();
        poll.register(pair.left(), OLD, Interest.READABLE, Trigger.LEVEL);
        for (int i = 0; i < 100; i++) {
            poll.reregister(pair.left(), OLD, Interest.READABLE, Trigger.EDGE);
            poll.deregister(pair.left());
            poll.register(pair.left(), OLD, Interest.READABLE, Trigger.ONESHOT);
        }

        poll.reregister(pair.left(), NEW, Interest.WRITABLE, Trigger.LEVEL);

        assertThat(sleeper.result()).containsExactly(new Event(NEW, Readiness.WRITABLE));
        assertThat(pollSoon()).as("LEVEL, as the last call said").containsExactly(new Event(NEW, Readiness.WRITABLE));
    }

    /** Starts a thread in a poll of five seconds that has nothing to report yet. */
    private Background<List<Event>> sleepingPoll() {
        long before = poll.waits();
        Background<List<Event>> sleeper = Background.call(() -> poll(Duration.ofSeconds(5)));
        Await.until("the poll sleeps", () -> poll.waits() > before);
        return sleeper;
    }

    @Test
    @DisplayName("mio-27: a registration exists, and remembers its readiness, before it is attached")
    void aRegistrationExistsBeforeItIsAttached() {
        source.setReadiness(Readiness.READABLE);
        source.setReadiness(Readiness.WRITABLE);
        source.unsetReadiness(Readiness.READABLE);
        assertThat(source.readiness()).isEqualTo(Readiness.WRITABLE);

        poll.register(source, OLD, Interest.READ_WRITE, Trigger.EDGE);

        assertThat(pollNow()).containsExactly(new Event(OLD, Readiness.WRITABLE));
    }

    @Test
    @DisplayName("mio-27: update replaces interest and trigger and keeps the token")
    void updateReplacesInterestAndTrigger() {
        poll.register(source, OLD, Interest.READABLE, Trigger.EDGE);
        source.setReadiness(Readiness.WRITABLE);
        assertThat(pollNow()).isEmpty();

        source.update(Interest.WRITABLE, Trigger.LEVEL);

        assertThat(pollNow()).containsExactly(new Event(OLD, Readiness.WRITABLE));
        assertThat(pollNow()).as("LEVEL now").hasSize(1);
    }

    @Test
    @DisplayName("mio-27: what is not registered cannot be changed, and says so")
    void anUnregisteredSourceCannotBeChanged() {
        TcpStream socket = socketPair().left();
        assertThatIllegalStateException()
                .isThrownBy(() -> source.update(Interest.READABLE, Trigger.EDGE))
                .withMessageContaining("call Poll.register first");
        for (Source one : List.of(source, socket)) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> poll.reregister(one, NEW, Interest.READABLE, Trigger.EDGE))
                    .withMessageContaining("cannot reregister")
                    .withMessageContaining("call register first");
            assertThatIllegalStateException()
                    .isThrownBy(() -> poll.deregister(one))
                    .withMessageContaining("cannot deregister")
                    .withMessageContaining("call register first");
        }

        assertThat(poll.size()).isZero();
        source.setReadiness(Readiness.READABLE);
        poll.register(source, OLD, Interest.READABLE, Trigger.EDGE);
        poll.register(socket, NEW, Interest.WRITABLE, Trigger.LEVEL);
        awaitReadiness(NEW, Readiness.WRITABLE);
    }

    @Test
    @DisplayName("mio-27: a second register fails and leaves the first as it was")
    void registeringTwiceChangesNothing() {
        TcpStream socket = socketPair().left();
        poll.register(source, OLD, Interest.READABLE, Trigger.LEVEL);
        poll.register(socket, 10 + OLD, Interest.WRITABLE, Trigger.LEVEL);

        for (Source one : List.of(source, socket)) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> poll.register(one, NEW, Interest.NONE, Trigger.EDGE))
                    .withMessageContaining("already registered")
                    .withMessageContaining("use reregister");
        }

        assertThat(poll.size()).isEqualTo(2);
        awaitReadiness(10 + OLD, Readiness.WRITABLE);
        source.setReadiness(Readiness.READABLE);
        assertThat(tokens(pollSoon())).containsExactlyInAnyOrder(OLD, 10 + OLD);
    }

    @Test
    @DisplayName("mio-27: a source that was deregistered may be registered again")
    void aSourceMayComeBack() {
        for (int i = 0; i < 3; i++) {
            poll.register(source, i, Interest.READABLE, Trigger.EDGE);
            source.setReadiness(Readiness.READABLE);
            assertThat(tokens(pollNow())).containsExactly((long) i);
            poll.deregister(source);
        }
        assertThatIllegalStateException().isThrownBy(() -> poll.deregister(source));
    }
}
