package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The alarms of a reactor")
class AlarmsTest {
    private static final long MS = 1_000_000;

    private final EngineSettings settings = new EngineSettings();
    private final Reactor reactor = new Reactor("reactor", settings);
    private final Alarms alarms = new Alarms(MS, 0);
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
}
