package io.millrace.engine;

import io.millrace.lincheck.Race;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class InFlightLincheckTest {
    @Test
    void oneCallAtATimeAndNoEdgeIsLost_mill3_mill16() {
        Race.explore(120, () -> new FlightRace() {
            @Override
            protected void longer() {
                handle();
            }

            @Override
            protected void shorter() {
                signal(2);
                signal(4);
            }
        });
    }

    private abstract static class FlightRace extends Race {
        final InFlight flight = new InFlight();
        final AtomicInteger calls = new AtomicInteger();
        final AtomicInteger seen = new AtomicInteger();

        FlightRace() {
            expect(flight.begin(1), "nothing was in flight");
        }

        /** The loop; who dispatches is called on this thread, for any will do. */
        void signal(int bit) {
            if (flight.begin(bit)) {
                handle();
            }
        }

        void handle() {
            do {
                int bits = flight.take();
                expect(calls.incrementAndGet() == 1, "two calls at a time");
                expect((seen.getAndAdd(bits) & bits) == 0, "an edge was told twice");
                calls.decrementAndGet();
            } while (!flight.end());
        }

        @Override
        protected void afterwards() {
            expect(seen.get() == 7, "an edge was lost: " + seen);
            expect(!flight.isOn(), "in flight for ever");
        }
    }
}
