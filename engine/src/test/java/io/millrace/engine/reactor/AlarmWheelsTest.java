package io.millrace.engine.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.CancelResult;
import io.millrace.engine.Priority;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The alarms of a reactor")
class AlarmWheelsTest {
    private static final long MS = 1_000_000;

    private final EngineSettings settings = new EngineSettings();
    private final Reactor reactor = new Reactor("reactor", settings);
    private final AlarmWheels alarms = new AlarmWheels(MS, 0);
    private final TreeMap<Long, List<Alarm>> wakeUps = new TreeMap<>();

    private Alarm add(long deadline, long slack) {
        Alarm alarm = new Alarm(reactor, deadline, slack, 0, fired -> {}, Priority.NORMAL);
        alarms.add(alarm, 0);
        return alarm;
    }

    /** Sleeps as a reactor would, until all have fired. */
    private void sleepThrough() {
        RunQueue queue = new RunQueue(1 << 20);
        for (long now = 0; !alarms.isEmpty(); ) {
            now += alarms.nanosUntilNext(now);
            alarms.expire(now, queue, new ReactorMetrics());
            List<Alarm> fired = new ArrayList<>();
            queue.deliver(item -> fired.add((Alarm) item));
            if (!fired.isEmpty()) {
                wakeUps.put(now, fired);
            }
        }
        reactor.finish(List.of());
    }

    @Test
    @DisplayName("grpc-4: one with slack fires with an earlier neighbour that has none")
    void anAlarmWithSlackFiresWithAnEarlierNeighbour() {
        Alarm slack = add(10 * MS, 100 * MS);
        Alarm exact = add(15 * MS, 0);
        sleepThrough();
        assertThat(wakeUps).containsOnlyKeys(15 * MS).containsValue(List.of(exact, slack));
    }

    @Test
    @DisplayName("grpc-4: a hundred inside one slack fire together, at the last moment of the first")
    void aHundredInOneSlack() {
        for (int i = 0; i < 100; i++) {
            add((10 + i) * MS, 100 * MS);
        }
        sleepThrough();
        assertThat(wakeUps).hasSize(1);
        assertThat(wakeUps.firstKey()).isEqualTo(109 * MS);
    }

    @Test
    @DisplayName("grpc-4: without slack, each has a wake-up of its own")
    void withoutSlack() {
        for (int i = 0; i < 100; i++) {
            add((10 + i) * MS, 0);
        }
        sleepThrough();
        assertThat(wakeUps).hasSize(100);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    @DisplayName("grpc-4: whatever the windows, each alarm fires inside its own, and there are no more wake-ups than a"
            + " greedy plan makes")
    void windows(long seed) {
        Random random = new Random(seed);
        List<long[]> windows = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            long deadline = random.nextLong(1, 1_000) * MS;
            long slack = random.nextInt(3) == 0 ? 0 : random.nextLong(1, 200) * MS;
            add(deadline, slack);
            // The wheel keeps a tick in reserve for rounding.
            windows.add(new long[] {deadline, slack == 0 ? deadline : deadline + slack - MS});
        }
        sleepThrough();
        wakeUps.forEach((now, fired) -> fired.forEach(alarm -> {
            assertThat(now).as("seed %d", seed).isGreaterThanOrEqualTo(alarm.deadline);
            assertThat(now).isLessThanOrEqualTo(alarm.deadline + alarm.slackNanos);
        }));
        assertThat(wakeUps.values().stream().mapToInt(List::size).sum()).isEqualTo(1_000);
        windows.sort((a, b) -> Long.compare(a[1], b[1]));
        int greedy = 0;
        long last = -1;
        for (long[] window : windows) {
            if (window[0] > last) {
                greedy++;
                last = window[1];
            }
        }
        assertThat(wakeUps).hasSize(greedy);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 100 * MS})
    @DisplayName("end-5: a million in one tick come in slices, turn after turn, in the order of their deadlines")
    void aMillionInOneTick(long slack) {
        int million = 1_000_000;
        Random random = new Random(42);
        for (int i = 0; i < million; i++) {
            add(10 * MS - random.nextInt((int) MS), slack);
        }
        RunQueue queue = new RunQueue(1 << 20);
        ReactorMetrics metrics = new ReactorMetrics();
        List<Alarm> fired = new ArrayList<>();
        long now = 20 * MS;
        for (int turns = 0; !alarms.isEmpty(); turns++) {
            assertThat(turns).as("turns").isLessThan(3 * million / AlarmWheels.TAKEN);
            // With slack it need not have woken up by now; but since it has, it goes on.
            assertThat(alarms.nanosUntilNext(now) == 0).isEqualTo(slack == 0 || turns > 0);
            int before = fired.size();
            alarms.expire(now, queue, metrics);
            queue.deliver(item -> fired.add((Alarm) item));
            assertThat(fired.size() - before).isLessThanOrEqualTo(AlarmWheels.TAKEN);
        }
        assertThat(alarms.nanosUntilNext(now)).isEqualTo(AlarmWheels.NONE);
        assertThat(fired).hasSize(million).isSortedAccordingTo((a, b) -> Long.compare(a.deadline, b.deadline));
        reactor.finish(List.of());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 100 * MS})
    @DisplayName("end-5: a reactor does not sleep while some are due that the last turn has not taken")
    void noSleepBeforeTheRest(long slack) {
        int inATick = AlarmWheels.TAKEN - 1;
        for (int i = 0; i < 2 * inATick; i++) {
            add((10 + i / inATick) * MS, slack);
        }
        RunQueue queue = new RunQueue(1 << 20);
        alarms.expire(20 * MS, queue, new ReactorMetrics());
        assertThat(alarms.size()).isEqualTo(2 * inATick - AlarmWheels.TAKEN);
        assertThat(alarms.nanosUntilNext(20 * MS)).isZero();
        alarms.expire(20 * MS, queue, new ReactorMetrics());
        assertThat(alarms.isEmpty()).isTrue();
        assertThat(alarms.nanosUntilNext(20 * MS)).isEqualTo(AlarmWheels.NONE);
        reactor.finish(List.of());
    }

    @Test
    @DisplayName(
            "end-5: one that is due when it comes does not overtake those that were due before it and wait for their turn")
    void anOverdueAlarmKeepsItsPlace() {
        int many = 20_000;
        for (int i = 0; i < many; i++) {
            add(10 * MS, 0);
        }
        RunQueue queue = new RunQueue(1 << 20);
        ReactorMetrics metrics = new ReactorMetrics();
        List<Alarm> fired = new ArrayList<>();
        alarms.expire(15 * MS, queue, metrics);
        Alarm overdue = new Alarm(reactor, 12 * MS, 0, 0, told -> {}, Priority.NORMAL);
        alarms.add(overdue, 15 * MS);
        Alarm cancelled = new Alarm(reactor, 11 * MS, 0, 0, told -> {}, Priority.NORMAL);
        alarms.add(cancelled, 15 * MS);
        for (int i = 0; i < 1_000; i++) {
            add(13 * MS, 0);
        }
        alarms.expire(15 * MS, queue, metrics);
        assertThat(cancelled.tryCancel()).isEqualTo(CancelResult.CANCELLED);
        alarms.remove(cancelled);
        while (!alarms.isEmpty()) {
            assertThat(alarms.nanosUntilNext(15 * MS)).isZero();
            alarms.expire(15 * MS, queue, metrics);
        }
        queue.deliver(item -> fired.add((Alarm) item));
        assertThat(fired).hasSize(many + 1_001).doesNotContain(cancelled);
        assertThat(fired.indexOf(overdue)).isEqualTo(many);
        reactor.finish(List.of());
    }

    @Test
    @DisplayName("end-5: taking all of a million takes time in proportion")
    void takeAll() {
        for (int i = 0; i < 1_000_000; i++) {
            add((10 + i % 1_000) * MS, i % 2 == 0 ? 0 : 20 * MS);
        }
        assertThat(alarms.takeAll())
                .hasSize(1_000_000)
                .isSortedAccordingTo((a, b) -> Long.compare(a.deadline, b.deadline));
        assertThat(alarms.isEmpty()).isTrue();
        reactor.finish(List.of());
    }
}
