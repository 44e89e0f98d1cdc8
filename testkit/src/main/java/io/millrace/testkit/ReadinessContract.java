package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.millrace.poll.Event;
import io.millrace.poll.Interest;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Trigger;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** How the readiness of a software source becomes events. */
@DisplayName("Readiness of software sources")
public abstract class ReadinessContract extends PollContract {
    private static final long TOKEN = 7;

    private final Registration source = new Registration();

    /**
     * Creates a suite for one backend.
     *
     * @param backend the backend to test
     */
    protected ReadinessContract(TestedBackend backend) {
        super(backend);
    }

    @Test
    @DisplayName("mio-5: set R, set W, set R is one event R|W")
    void severalSetsAreOneEvent() {
        poll.register(source, TOKEN, Interest.READ_WRITE, Trigger.EDGE);

        source.setReadiness(Readiness.READABLE);
        source.setReadiness(Readiness.WRITABLE);
        source.setReadiness(Readiness.READABLE);

        assertThat(pollNow()).containsExactly(new Event(TOKEN, Readiness.READ_WRITE));
    }

    @Test
    @DisplayName("mio-5: nor does LEVEL report a source twice in one poll")
    void aLevelSourceIsReportedOncePerPoll() {
        poll.register(source, TOKEN, Interest.READ_WRITE, Trigger.LEVEL);
        source.setReadiness(Readiness.READABLE);
        pollNow();
        // Queued again by the poll itself, and now by this set as well.
        source.setReadiness(Readiness.WRITABLE);

        assertThat(pollNow()).containsExactly(new Event(TOKEN, Readiness.READ_WRITE));
    }

    @Test
    @DisplayName("mio-6: EDGE notifies once, and again when a bit that is already set is set")
    void edgeNotifiesPerSet() {
        poll.register(source, TOKEN, Interest.READABLE, Trigger.EDGE);

        source.setReadiness(Readiness.READABLE);
        assertThat(pollNow()).containsExactly(new Event(TOKEN, Readiness.READABLE));
        assertThat(pollNow()).as("it is still ready, but there is no new edge").isEmpty();

        source.setReadiness(Readiness.READABLE);
        assertThat(pollNow()).containsExactly(new Event(TOKEN, Readiness.READABLE));
        assertThat(pollNow()).isEmpty();
    }

    @Test
    @DisplayName("mio-7: LEVEL notifies by every poll while ready")
    void levelNotifiesWhileReady() {
        poll.register(source, TOKEN, Interest.READABLE, Trigger.LEVEL);
        source.setReadiness(Readiness.READABLE);

        for (int i = 0; i < 5; i++) {
            assertThat(pollNow()).as("poll " + i).containsExactly(new Event(TOKEN, Readiness.READABLE));
        }

        source.unsetReadiness(Readiness.READABLE);
        assertThat(pollNow()).isEmpty();
        source.setReadiness(Readiness.READABLE);
        assertThat(pollNow()).hasSize(1);
    }

    @Test
    @DisplayName("ONESHOT notifies once; only reregister brings it back")
    void oneShotNotifiesOncePerRegistration() {
        poll.register(source, TOKEN, Interest.READABLE, Trigger.ONESHOT);
        source.setReadiness(Readiness.READABLE);
        assertThat(pollNow()).hasSize(1);

        source.setReadiness(Readiness.READABLE);
        assertThat(pollNow()).as("set again, but spent").isEmpty();

        poll.reregister(source, TOKEN, Interest.READABLE, Trigger.ONESHOT);
        assertThat(pollNow()).as("ready, and armed again").hasSize(1);
        assertThat(pollNow()).isEmpty();
    }

    @Test
    @DisplayName("mio-8: registering a source that is ready notifies at once")
    void registeringAReadySourceNotifies() {
        source.setReadiness(Readiness.READABLE);

        poll.register(source, TOKEN, Interest.READABLE, Trigger.EDGE);

        assertThat(pollNow()).containsExactly(new Event(TOKEN, Readiness.READABLE));
    }

    @Test
    @DisplayName("mio-8: three reregisters of an undrained source are three events")
    void reregisteringAReadySourceNotifies() {
        poll.register(source, TOKEN, Interest.READABLE, Trigger.EDGE);
        source.setReadiness(Readiness.READABLE);
        pollNow();

        for (int i = 0; i < 3; i++) {
            poll.reregister(source, TOKEN, Interest.READABLE, Trigger.EDGE);
            assertThat(pollNow()).as("reregister " + i).containsExactly(new Event(TOKEN, Readiness.READABLE));
            assertThat(pollNow()).isEmpty();
        }
    }

    @Test
    @DisplayName("mio-9, mio-24: what is outside the interest is not reported")
    void readinessIsMaskedByTheInterest() {
        poll.register(source, TOKEN, Interest.READABLE, Trigger.LEVEL);

        source.setReadiness(Readiness.WRITABLE);
        assertThat(pollNow()).isEmpty();

        source.setReadiness(Readiness.READABLE);
        assertThat(pollNow())
                .as("and comes not with what is inside")
                .containsExactly(new Event(TOKEN, Readiness.READABLE));
    }

    @Test
    @DisplayName("mio-9, mio-24: the interest at delivery counts, not that of the set")
    void theInterestMayChangeBetweenSetAndPoll() {
        poll.register(source, TOKEN, Interest.READABLE, Trigger.EDGE);
        source.setReadiness(Readiness.READ_WRITE);

        poll.reregister(source, TOKEN, Interest.WRITABLE, Trigger.EDGE);
        assertThat(pollNow()).containsExactly(new Event(TOKEN, Readiness.WRITABLE));

        source.unsetReadiness(Readiness.WRITABLE);
        source.setReadiness(Readiness.READABLE);
        assertThat(pollNow()).isEmpty();
    }

    @Test
    @DisplayName("mio-9: the interest counts even while the batch is read")
    void theInterestMayChangeWhileTheBatchIsRead() {
        poll.register(source, TOKEN, Interest.READ_WRITE, Trigger.EDGE);
        source.setReadiness(Readiness.READ_WRITE);
        poll.poll(events, NOW);

        source.update(Interest.WRITABLE, Trigger.EDGE);

        assertThat(read(events)).containsExactly(new Event(TOKEN, Readiness.WRITABLE));
        source.update(Interest.NONE, Trigger.EDGE);
        assertThat(read(events)).isEmpty();
    }

    @Test
    @DisplayName("Replace makes the readiness exactly what it says")
    void replaceSetsAndUnsetsInOneStep() {
        poll.register(source, TOKEN, Interest.READ_WRITE, Trigger.LEVEL);
        source.setReadiness(Readiness.READABLE);

        source.replaceReadiness(Readiness.WRITABLE);

        assertThat(source.readiness()).isEqualTo(Readiness.WRITABLE);
        assertThat(pollNow()).containsExactly(new Event(TOKEN, Readiness.WRITABLE));
        source.replaceReadiness(Readiness.NONE);
        assertThat(pollNow()).isEmpty();
    }

    @Test
    @DisplayName("mio-13: concurrent set and unset never lose the final state")
    void theLastSetOrUnsetOfEachBitStands() throws Exception {
        List<Readiness> bits = List.of(Readiness.READABLE, Readiness.WRITABLE, Readiness.PRIORITY);
        Interest all = Interest.READ_WRITE.and(Interest.PRIORITY);
        poll.register(source, TOKEN, all, Trigger.LEVEL);
        int rounds = 200;
        CyclicBarrier between = new CyclicBarrier(bits.size() + 1);
        List<Background<Boolean>> threads = new ArrayList<>();
        for (int i = 0; i < bits.size(); i++) {
            Readiness own = bits.get(i);
            int seed = i;
            threads.add(Background.run(() -> {
                for (int round = 0; round < rounds; round++) {
                    between.await();
                    flip(own, new Random(seed * 1_000L + round));
                    between.await();
                    between.await(); // the main thread polls
                }
            }));
        }
        for (int round = 0; round < rounds; round++) {
            between.await();
            pollNow(); // in the middle of it
            between.await();
            Readiness expected = Readiness.NONE;
            for (int i = 0; i < bits.size(); i++) {
                if (endsSet(new Random(i * 1_000L + round))) {
                    expected = expected.and(bits.get(i));
                }
            }
            assertThat(source.readiness()).as("round " + round).isEqualTo(expected);
            List<Event> found = pollNow();
            if (expected.equals(Readiness.NONE)) {
                assertThat(found).as("round " + round).isEmpty();
            } else {
                assertThat(found).as("round " + round).containsExactly(new Event(TOKEN, expected));
            }
            between.await();
        }
        threads.forEach(Background::result);
    }

    private static final int FLIPS = 100;

    /** Sets and unsets one bit at random; the last step is {@link #endsSet} of the same seed. */
    private void flip(Readiness bit, Random random) {
        for (int i = 0; i < FLIPS; i++) {
            if (random.nextBoolean()) {
                source.setReadiness(bit);
            } else {
                source.unsetReadiness(bit);
            }
        }
    }

    private static boolean endsSet(Random random) {
        boolean set = false;
        for (int i = 0; i < FLIPS; i++) {
            set = random.nextBoolean();
        }
        return set;
    }

    @Test
    @DisplayName("mio-13: an edge set by one thread while another unsets is reported, or was unset after it")
    void aSetIsNeverSwallowedByAnUnsetOfAnotherBit() {
        poll.register(source, TOKEN, Interest.READABLE, Trigger.EDGE);
        int rounds = 20_000;
        Background<Boolean> other = Background.run(() -> {
            for (int i = 0; i < rounds; i++) {
                source.unsetReadiness(Readiness.WRITABLE);
                source.setReadiness(Readiness.WRITABLE);
            }
        });
        for (int i = 0; i < rounds; i++) {
            source.setReadiness(Readiness.READABLE);
            // Not pollNow: the other thread may have turned the node on and be about to queue it.
            assertThat(pollSoon()).as("round " + i).containsExactly(new Event(TOKEN, Readiness.READABLE));
        }
        other.result();
    }

    @Test
    @DisplayName("mio-16: a million sets between two polls are one event and allocate nothing")
    void aMillionSetsAreOneEventAndNoAllocation() {
        poll.register(source, TOKEN, Interest.READABLE, Trigger.EDGE);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().threadId();
        set(10_000); // classes are loaded, code is compiled
        pollNow();
        threads.getThreadAllocatedBytes(self);

        long before = threads.getThreadAllocatedBytes(self);
        set(1_000_000);
        long allocated = threads.getThreadAllocatedBytes(self) - before;

        assertThat(allocated).as("bytes allocated by a million sets").isLessThan(4096);
        assertThat(pollNow()).containsExactly(new Event(TOKEN, Readiness.READABLE));
        assertThat(pollNow()).isEmpty();
    }

    private void set(int times) {
        for (int i = 0; i < times; i++) {
            source.setReadiness(Readiness.READABLE);
        }
    }

    @Test
    @DisplayName("mio-31: every long is a token, and sources may share one")
    void everyLongIsAToken() {
        long[] all = {0, -1, Long.MIN_VALUE, Long.MAX_VALUE};
        for (long token : all) {
            Registration one = closing(new Registration());
            poll.register(one, token, Interest.READABLE, Trigger.EDGE);
            one.setReadiness(Readiness.READABLE);
        }
        poll.register(source, Long.MIN_VALUE, Interest.READABLE, Trigger.EDGE);
        source.setReadiness(Readiness.READABLE);

        assertThat(tokens(pollNow()))
                .containsExactlyInAnyOrder(0L, -1L, Long.MIN_VALUE, Long.MAX_VALUE, Long.MIN_VALUE);
    }
}
