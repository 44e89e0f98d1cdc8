package io.millrace.netty;

import io.millrace.poll.Clock;
import io.netty.util.concurrent.Ticker;
import java.util.concurrent.TimeUnit;

/** The clock of a manager as Netty's timers see it: it begins at zero. */
final class ReactorTicker implements Ticker {
    private final Clock clock;
    private final long beginning;

    ReactorTicker(Clock clock) {
        this.clock = clock;
        this.beginning = clock.nanoTime();
    }

    @Override
    public long initialNanoTime() {
        return beginning;
    }

    @Override
    public long nanoTime() {
        return clock.nanoTime() - beginning;
    }

    @Override
    public void sleep(long delay, TimeUnit unit) throws InterruptedException {
        unit.sleep(delay);
    }
}
