package io.millrace.engine.reactor;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.LongAdder;

/**
 * The counters of a reactor. Its thread writes them with opaque stores, which cost it no more than plain ones; other
 * threads read them. A reader sees each number whole and reasonably fresh, but the numbers are not of one moment.
 */
public final class ReactorMetrics {
    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);

    static {
        add(new long[1], 0, 1); // linked while there is memory: boundaries count with it when there is none
    }

    private static final int TURNS = 0;
    private static final int EVENTS = 1;
    private static final int ITEMS = 2;
    private static final int ALARMS = 3;
    private static final int FAILURES = 4;
    private static final int LIVE_ALARMS = 5;
    private static final int LAG_MAX = 6;
    private static final int TURN_MAX = 7;

    private static final int LAG_SUM = 8;
    private static final int TURN_SUM = 9;

    private final long[] numbers = new long[10];
    /** Failures of handlers that other threads called. */
    private final LongAdder failuresElsewhere = new LongAdder();

    private final long[] lag = new long[BucketHistogram.BUCKETS];
    private final long[] turnTime = new long[BucketHistogram.BUCKETS];

    private static void add(long[] to, int index, long by) {
        ELEMENT.setOpaque(to, index, to[index] + by);
    }

    private void raiseMax(int index, long value) {
        if (value > numbers[index]) {
            ELEMENT.setOpaque(numbers, index, value);
        }
    }

    private long get(int index) {
        return (long) ELEMENT.getOpaque(numbers, index);
    }

    // ---- The reactor's thread ----

    void countEvent() {
        add(numbers, EVENTS, 1);
    }

    void countAlarm(long lateNanos) {
        add(numbers, ALARMS, 1);
        long late = Math.max(0, lateNanos);
        add(lag, BucketHistogram.bucket(late), 1);
        add(numbers, LAG_SUM, late);
        raiseMax(LAG_MAX, late);
    }

    void countFailure() {
        add(numbers, FAILURES, 1);
    }

    void countTurn(int items, long nanos, int liveAlarms) {
        add(numbers, TURNS, 1);
        add(numbers, ITEMS, items);
        ELEMENT.setOpaque(numbers, LIVE_ALARMS, liveAlarms);
        long took = Math.max(0, nanos);
        add(turnTime, BucketHistogram.bucket(took), 1);
        add(numbers, TURN_SUM, took);
        raiseMax(TURN_MAX, took);
    }

    // ---- Any thread ----

    long turns() {
        return get(TURNS);
    }

    long events() {
        return get(EVENTS);
    }

    long items() {
        return get(ITEMS);
    }

    long alarms() {
        return get(ALARMS);
    }

    public void countFailureElsewhere() {
        failuresElsewhere.increment();
    }

    long failures() {
        return get(FAILURES) + failuresElsewhere.sum();
    }

    long liveAlarms() {
        return get(LIVE_ALARMS);
    }

    long busyNanos() {
        return get(TURN_SUM);
    }

    BucketHistogram lag() {
        return snapshot(lag, LAG_MAX, LAG_SUM);
    }

    BucketHistogram turnTime() {
        return snapshot(turnTime, TURN_MAX, TURN_SUM);
    }

    private BucketHistogram snapshot(long[] counts, int max, int sum) {
        long[] copy = new long[counts.length];
        for (int i = 0; i < copy.length; i++) {
            copy[i] = (long) ELEMENT.getOpaque(counts, i);
        }
        return new BucketHistogram(copy, get(max), get(sum));
    }
}
