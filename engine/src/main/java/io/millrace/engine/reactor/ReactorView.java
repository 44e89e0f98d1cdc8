package io.millrace.engine.reactor;

import io.millrace.engine.LoopView;
import io.millrace.engine.Metrics;
import io.millrace.engine.StallReport;
import io.millrace.poll.BackendReport;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A reactor, observed from outside. It has no state: each call reads the reactor's. */
final class ReactorView implements LoopView {
    private final Reactor reactor;

    ReactorView(Reactor reactor) {
        this.reactor = reactor;
    }

    @Override
    public String name() {
        return reactor.name();
    }

    @Override
    public String backend() {
        return reactor.poll.backend();
    }

    @Override
    public BackendReport report() {
        return reactor.poll.report();
    }

    @Override
    public Activity activity() {
        return reactor.activity();
    }

    @Override
    public Duration turnLasts() {
        return Duration.ofNanos(reactor.turnNanos());
    }

    @Override
    public Optional<String> running() {
        return Optional.ofNullable(reactor.running());
    }

    @Override
    public List<StackTraceElement> stack() {
        return reactor.describeTurn(0).stack();
    }

    @Override
    public Metrics metrics() {
        return new MetricsView(reactor);
    }

    @Override
    public List<PendingAlarm> nextAlarms(int atMost) {
        return atMost <= 0 ? List.of() : reactor.nextAlarms(atMost);
    }

    @Override
    public List<String> sources(int atMost) {
        return reactor.describeSources(atMost);
    }

    @Override
    public StallReport stalls() {
        return reactor.stalls().report(reactor.clockNanos());
    }

    @Override
    public String toString() {
        return reactor.toString();
    }
}
