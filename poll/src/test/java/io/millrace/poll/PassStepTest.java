package io.millrace.poll;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** How much one pass of a poll does for sources in software that have no event. The unit of work is a look at the clock, one for each delay that is taken in. */
@DisplayName("A pass over sources in software")
class PassStepTest {
    private static final int MANY = 20_000;

    private static final class CountingClock implements Clock {
        private final ManualClock time = new ManualClock();
        private int looks;

        @Override
        public long nanoTime() {
            looks++;
            return time.nanoTime();
        }
    }

    private final CountingClock clock = new CountingClock();
    private final Poll poll = Poll.builder().clock(clock).open();
    private final Events events = Events.withCapacity(64);

    @AfterEach
    void close() {
        poll.close();
    }

    private List<Registration> delayed() {
        List<Registration> all = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            Registration registration = new Registration();
            poll.register(registration, i, Interest.READABLE, Trigger.ONESHOT);
            registration.delayReadiness(Readiness.READABLE, Duration.ofHours(1));
            all.add(registration);
        }
        return all;
    }

    @Test
    @DisplayName("end-5: takes in a step of the delays that were set, and the next passes the others, without a sleep")
    void delays() {
        delayed();
        Registration last = new Registration();
        poll.register(last, MANY, Interest.READABLE, Trigger.ONESHOT);
        last.setReadiness(Readiness.READABLE);
        int found = 0;
        int passes = 0;
        for (; found == 0 && passes < 100; passes++) {
            clock.looks = 0;
            found = poll.poll(events, Duration.ZERO);
            assertThat(clock.looks).isLessThan(Poll.SILENT + 100);
        }
        assertThat(passes).isEqualTo(MANY / (events.capacity() + Poll.SILENT) + 1);
        assertThat(events.advance()).isTrue();
        assertThat(events.token()).isEqualTo(MANY);
    }

    @Test
    @DisplayName("end-5: a wait goes on over as many passes as it takes")
    void aWait() {
        delayed();
        Registration last = new Registration();
        poll.register(last, MANY, Interest.READABLE, Trigger.ONESHOT);
        last.setReadiness(Readiness.READABLE);
        assertThat(poll.poll(events, null)).isEqualTo(1);
    }

    @Test
    @DisplayName("end-5: lets go of a step of those that were closed")
    void closed() {
        List<Registration> all = delayed();
        for (int i = 0; i < 100; i++) {
            poll.poll(events, Duration.ZERO);
        }
        all.forEach(Registration::close);
        Registration last = new Registration();
        poll.register(last, MANY, Interest.READABLE, Trigger.ONESHOT);
        last.setReadiness(Readiness.READABLE);
        int passes = 1;
        while (poll.poll(events, Duration.ZERO) == 0 && passes < 100) {
            passes++;
        }
        assertThat(passes).isEqualTo(MANY / (events.capacity() + Poll.SILENT) + 1);
    }
}
