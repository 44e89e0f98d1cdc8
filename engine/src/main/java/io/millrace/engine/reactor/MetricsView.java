package io.millrace.engine.reactor;

import io.millrace.engine.Histogram;
import io.millrace.engine.LoopView;
import io.millrace.engine.Metrics;
import io.millrace.engine.Priority;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/** The sums over several reactors. */
public final class MetricsView implements Metrics {
    private final Reactor[] reactors;

    public MetricsView(Reactor... reactors) {
        this.reactors = reactors;
    }

    private long sum(ToLongFunction<Reactor> part) {
        return Arrays.stream(reactors).mapToLong(part).sum();
    }

    private Histogram merged(Function<ReactorMetrics, BucketHistogram> part) {
        return Arrays.stream(reactors)
                .map(reactor -> part.apply(reactor.metrics))
                .reduce(BucketHistogram::plus)
                .orElseThrow();
    }

    @Override
    public int reactors() {
        return reactors.length;
    }

    @Override
    public long turns() {
        return sum(reactor -> reactor.metrics.turns());
    }

    @Override
    public long waits() {
        return sum(reactor -> reactor.poll.waits());
    }

    @Override
    public long wakeUps() {
        return sum(reactor -> reactor.poll.wakes());
    }

    @Override
    public long events() {
        return sum(reactor -> reactor.metrics.events());
    }

    @Override
    public long delivered() {
        return sum(reactor -> reactor.metrics.items());
    }

    @Override
    public long alarmsDue() {
        return sum(reactor -> reactor.metrics.alarms());
    }

    @Override
    public long failures() {
        return sum(reactor -> reactor.metrics.failures());
    }

    @Override
    public int sources() {
        return (int) sum(reactor -> reactor.poll.size());
    }

    @Override
    public long alarmsPending() {
        return sum(reactor -> reactor.metrics.liveAlarms());
    }

    @Override
    public int queueDepth(Priority priority) {
        return (int) sum(reactor -> reactor.depth(priority));
    }

    @Override
    public Histogram loopLag() {
        return merged(ReactorMetrics::lag);
    }

    @Override
    public Histogram turnTime() {
        return merged(ReactorMetrics::turnTime);
    }

    @Override
    public long busyNanos() {
        return sum(reactor -> reactor.metrics.busyNanos());
    }

    @Override
    public List<LoopView> loops() {
        return Arrays.stream(reactors).map(Reactor::view).toList();
    }

    /** Returns all values in one human-readable line. */
    @Override
    public String toString() {
        int waiting = 0;
        for (Priority priority : Priority.values()) {
            waiting += queueDepth(priority);
        }
        return reactors() + (reactors() == 1 ? " reactor: " : " reactors: ") + turns() + " turns, " + waits()
                + " waits, " + wakeUps() + " wake-ups, " + events() + " events, " + delivered() + " delivered, "
                + alarmsDue() + " alarms due, " + failures() + " failures; now " + sources() + " sources, "
                + alarmsPending() + " alarms, " + waiting + " tasks waiting; loop lag " + loopLag() + "; turn "
                + turnTime();
    }
}
