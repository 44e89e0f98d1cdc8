package io.millrace.poll;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What one turn of a poll does, step by step, over a {@link ModelKernel}: no descriptor, no thread, no time. */
class PollTurnTest {
    private final ModelKernel kernel = new ModelKernel();
    private final Poll poll = kernel.poll();

    @Test
    void readinessOutsideTheInterestIsNotDelivered_mio9_mio24() {
        Registration registration = registered(1, Interest.READABLE, Trigger.EDGE);

        registration.setReadiness(Readiness.WRITABLE);

        assertThat(turn(4)).isEmpty();
    }

    @Test
    void theInterestAtDeliveryCounts_mio9() {
        Registration registration = registered(1, Interest.READABLE, Trigger.EDGE);

        registration.setReadiness(Readiness.READ_WRITE);
        poll.reregister(registration, 2, Interest.WRITABLE, Trigger.EDGE);

        assertThat(turn(4)).containsExactly("2 WRITABLE");
    }

    @Test
    void setsBetweenTwoPollsAreOneEvent_mio5_mio16() {
        Registration registration = registered(1, Interest.READ_WRITE, Trigger.EDGE);

        for (int i = 0; i < 1_000; i++) {
            registration.setReadiness(Readiness.READABLE);
            registration.setReadiness(Readiness.WRITABLE);
        }

        assertThat(turn(4)).containsExactly("1 READABLE|WRITABLE");
        assertThat(turn(4)).isEmpty();
    }

    @Test
    void aLevelSourceIsReportedOnceByEachPoll_mio5_mio7() {
        Registration registration = registered(1, Interest.READABLE, Trigger.LEVEL);
        registration.setReadiness(Readiness.READABLE);

        for (int i = 0; i < 5; i++) {
            assertThat(turn(4)).containsExactly("1 READABLE");
        }
        registration.unsetReadiness(Readiness.READABLE);

        assertThat(turn(4)).isEmpty();
    }

    @Test
    void settingABitThatIsSetNotifiesAnEdgeAgain_mio6() {
        Registration registration = registered(1, Interest.READABLE, Trigger.EDGE);
        registration.setReadiness(Readiness.READABLE);
        assertThat(turn(4)).containsExactly("1 READABLE");
        assertThat(turn(4)).isEmpty();

        registration.setReadiness(Readiness.READABLE);

        assertThat(turn(4)).containsExactly("1 READABLE");
    }

    @Test
    void aOneShotIsSilentUntilItIsReregistered() {
        Registration registration = registered(1, Interest.READABLE, Trigger.ONESHOT);
        registration.setReadiness(Readiness.READABLE);
        assertThat(turn(4)).containsExactly("1 READABLE");
        registration.setReadiness(Readiness.READABLE);
        assertThat(turn(4)).isEmpty();

        poll.reregister(registration, 1, Interest.READABLE, Trigger.ONESHOT);

        assertThat(turn(4)).containsExactly("1 READABLE");
    }

    @Test
    void levelSourcesGoBehindWhatIsPending_mio19() {
        for (int token = 0; token < 8; token++) {
            registered(token, Interest.READABLE, Trigger.LEVEL).setReadiness(Readiness.READABLE);
        }

        Set<String> seen = new HashSet<>(turn(4));
        seen.addAll(turn(4));

        assertThat(seen).hasSize(8);
    }

    @Test
    void kernelAndSoftwareShareASmallBuffer_mio30() {
        Registration registration = registered(1, Interest.READABLE, Trigger.LEVEL);
        registration.setReadiness(Readiness.READABLE);
        long busy = registeredDescriptor(2, Interest.READABLE).attachment().key();

        Set<String> seen = new HashSet<>();
        for (int i = 0; i < 2; i++) {
            kernel.report(busy, Bits.READABLE);
            seen.addAll(turn(1));
        }

        assertThat(seen).containsExactlyInAnyOrder("1 READABLE", "2 READABLE");
    }

    @Test
    void anEventOfTheBatchIsLeftOutAfterItsSourceWasDeregistered_mio10() {
        Registration registration = registered(1, Interest.READABLE, Trigger.EDGE);
        registration.setReadiness(Readiness.READABLE);
        Events events = Events.withCapacity(4);
        poll.poll(events, Duration.ZERO);

        poll.deregister(registration);

        assertThat(read(events)).isEmpty();
        assertThat(events).isEmpty();
    }

    @Test
    void anEventOfTheBatchComesWithTheTokenOfALaterReregister_mio4() {
        Registration registration = registered(1, Interest.READABLE, Trigger.EDGE);
        registration.setReadiness(Readiness.READABLE);
        Events events = Events.withCapacity(4);
        poll.poll(events, Duration.ZERO);

        poll.reregister(registration, 2, Interest.READABLE, Trigger.EDGE);

        assertThat(read(events)).containsExactly("2 READABLE");
    }

    @Test
    void theNextOwnerOfASlotGetsNoEventOfTheFormerOne_mio10_mio11() {
        Registration former = registered(1, Interest.READABLE, Trigger.EDGE);
        former.setReadiness(Readiness.READABLE);
        Events events = Events.withCapacity(4);
        poll.poll(events, Duration.ZERO);

        former.close();
        Registration next = registered(2, Interest.READABLE, Trigger.EDGE);

        assertThat(next.node.key() & 0xFFFF_FFFFL).as("the slot").isZero();
        assertThat(read(events)).isEmpty();
    }

    @Test
    void tenThousandSetsToAPollThatDoesNotSleepMakeNoSystemCall_mio15() {
        Registration registration = registered(1, Interest.READABLE, Trigger.EDGE);

        for (int i = 0; i < 10_000; i++) {
            registration.setReadiness(Readiness.READABLE);
        }

        assertThat(kernel.wakes()).isZero();
        assertThat(poll.wakes()).isZero();
        assertThat(turn(4)).hasSize(1);
    }

    @Test
    void pendingSoftwareMakesTheWaitOneThatDoesNotBlock_mio15() {
        registered(1, Interest.READABLE, Trigger.EDGE).setReadiness(Readiness.READABLE);

        poll.poll(Events.withCapacity(4));

        assertThat(kernel.lastTimeoutNanos()).isZero();
    }

    @Test
    @Timeout(10)
    void aWakeThatComesBeforeThePollEndsIt_mio28() {
        poll.wake();

        assertThat(poll.poll(Events.withCapacity(4))).isZero();
        assertThat(kernel.wakes()).isZero();
    }

    @Test
    void aHangUpThatNobodyWantsToHearOfIsAskedForAsAnEdge_mio29() {
        KernelHandle handle = registeredDescriptor(1, Interest.PRIORITY);
        kernel.report(handle.attachment().key(), Bits.READABLE | Bits.READ_CLOSED | Bits.WRITE_CLOSED);

        assertThat(turn(4)).isEmpty();

        assertThat(kernel.changes()).containsExactly("add 4 " + Bits.LEVEL, "modify 4 " + Bits.EDGE);
    }

    @Test
    void aLateKernelEventOfADeregisteredSourceIsDropped_mio10() {
        KernelHandle handle = registeredDescriptor(1, Interest.READABLE);
        kernel.report(handle.attachment().key(), Bits.READABLE);

        poll.deregister(() -> handle);
        registeredDescriptor(2, Interest.READABLE);

        assertThat(turn(4)).isEmpty();
    }

    @Test
    void aTimeoutIsNeverEarlyAndAtMostATickLate_mio23() {
        ManualClock clock = new ManualClock();
        Timer<String> timer =
                Timer.builder().clock(clock).tick(Duration.ofMillis(100)).build();
        timer.set(Duration.ofMillis(150), "due");

        clock.advance(Duration.ofMillis(149));
        assertThat(timer.poll()).isNull();
        clock.advance(Duration.ofMillis(101));
        assertThat(timer.poll()).isEqualTo("due");
    }

    private Registration registered(long token, Interest interest, Trigger trigger) {
        Registration registration = new Registration();
        poll.register(registration, token, interest, trigger);
        return registration;
    }

    /** A number that nobody opens: the model kernel never looks at it. */
    private KernelHandle registeredDescriptor(long token, Interest interest) {
        KernelHandle handle = new KernelHandle(new Descriptor(1 << 30, false));
        poll.register(() -> handle, token, interest, Trigger.LEVEL);
        return handle;
    }

    private List<String> turn(int capacity) {
        Events events = Events.withCapacity(capacity);
        poll.poll(events, Duration.ZERO);
        return read(events);
    }

    private static List<String> read(Events events) {
        List<String> seen = new ArrayList<>();
        while (events.advance()) {
            seen.add(events.token() + " " + events.readiness());
        }
        return seen;
    }
}
