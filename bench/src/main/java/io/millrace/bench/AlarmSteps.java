package io.millrace.bench;

import io.millrace.engine.EventLoop;
import io.millrace.engine.Priority;
import io.millrace.poll.ManualClock;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;

/**
 * How long a turn of a loop gets with a million alarms (end-5): the longest one, in CPU time of the loop's thread, while they are set and
 * while they fire. They are set by tasks of a thousand each, and what their callbacks do is to count. The clock is turned by hand: all of them are due at once, as
 * after a stall.
 */
public final class AlarmSteps {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int ALARMS = 1_000_000;
    private static final int TOGETHER = 1_000;
    private static final int WARM_UPS = 4;
    private static final int ROUNDS = 7;

    private int fired;

    private AlarmSteps() {}

    public static void main(String[] arguments) {
        SplittableRandom random = new SplittableRandom(42);
        run("one deadline", () -> 2_000_000_000L);
        run("one tick", () -> 2_000_000_000L + random.nextLong(1_000_000));
        run("a second", () -> 2_000_000_000L + random.nextLong(1_000_000_000));
        run("a minute", () -> 2_000_000_000L + random.nextLong(60_000_000_000L));
        run("an hour", () -> 2_000_000_000L + random.nextLong(3_600_000_000_000L));
    }

    private static void run(String name, LongSupplier delay) {
        double[] set = new double[ROUNDS];
        double[] fire = new double[ROUNDS];
        double[] total = new double[ROUNDS];
        int turns = 0;
        for (int round = -WARM_UPS; round < ROUNDS; round++) {
            AlarmSteps steps = new AlarmSteps();
            ManualClock clock = new ManualClock();
            try (EventLoop loop =
                    EventLoop.builder().clock(clock).withoutWatchdog().open()) {
                for (int i = 0; i < ALARMS; i += TOGETHER) {
                    loop.execute(() -> {
                        for (int k = 0; k < TOGETHER; k++) {
                            loop.schedule(Duration.ofNanos(delay.getAsLong()), told -> steps.fired++, Priority.NORMAL);
                        }
                    });
                    long longest = turn(loop);
                    if (round >= 0) {
                        set[round] = Math.max(set[round], longest / 1e6);
                    }
                }
                clock.advance(Duration.ofHours(2));
                turns = 0;
                for (; steps.fired < ALARMS; turns++) {
                    long took = turn(loop);
                    if (round >= 0) {
                        fire[round] = Math.max(fire[round], took / 1e6);
                        total[round] += took / 1e6;
                    }
                }
            }
        }
        Arrays.sort(set);
        Arrays.sort(fire);
        Arrays.sort(total);
        System.out.printf(
                "a million alarms in %-12s longest turn while set %6.2f ms (worst %6.2f), while they fire %6.2f ms (worst %6.2f); %d turns, %.0f ms%n",
                name + ":",
                set[ROUNDS / 2],
                set[ROUNDS - 1],
                fire[ROUNDS / 2],
                fire[ROUNDS - 1],
                turns,
                total[ROUNDS / 2]);
    }

    private static long turn(EventLoop loop) {
        long before = THREADS.getCurrentThreadCpuTime();
        loop.runOnce(Duration.ZERO);
        return THREADS.getCurrentThreadCpuTime() - before;
    }
}
