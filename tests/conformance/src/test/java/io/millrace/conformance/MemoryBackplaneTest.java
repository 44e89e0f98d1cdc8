package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.backplane.Backplane;
import io.millrace.engine.Reactors;
import io.millrace.testkit.Await;
import io.millrace.testkit.BackplaneContract;
import io.millrace.testkit.MemoryBackplanes;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("backplane in memory")
class MemoryBackplaneTest extends BackplaneContract {
    private final String name = UUID.randomUUID().toString();

    @Override
    protected String url() {
        return "memory:" + name;
    }

    @Override
    protected void stopEngine() {
        MemoryBackplanes.stop(name);
    }

    @Override
    protected void startEngine(boolean withData) {
        MemoryBackplanes.start(name, withData);
    }

    /** It has none: this is a restart. */
    @Override
    protected void cutConnections() {
        MemoryBackplanes.stop(name);
        MemoryBackplanes.start(name, true);
    }

    @Test
    @DisplayName("bp-1: without a name, a backplane in memory is alone, and needs nothing")
    void alone() throws Exception {
        try (Reactors reactors = Reactors.builder().reactors(1).open();
                Backplane one = Backplane.open("memory:", reactors);
                Backplane other = Backplane.open("memory:", reactors)) {
            AtomicInteger here = new AtomicInteger();
            AtomicInteger there = new AtomicInteger();
            one.topic("room").subscribeFromLast(1, message -> here.incrementAndGet());
            other.topic("room").subscribeFromLast(1, message -> there.incrementAndGet());
            one.topic("room").publish("x").join();
            other.topic("room").publish("y").join();
            Await.until("each has its own", () -> here.get() == 1 && there.get() == 1);
            assertThat(one.nodes()).containsExactly(one.node());
        }
    }
}
